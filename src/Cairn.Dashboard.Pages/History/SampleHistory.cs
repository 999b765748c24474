// Records the values of a few numbers during the last day, so that a page can show them when it is opened.
//
//   I1  Each range (HistoryRange) keeps Capacity samples. All are in one block that is allocated once: 1,383 samples for 24 hours, 199 KiB
//       for the 17 numbers of a server. Taking a sample allocates no memory here.
//   I2  Sample n of a range is at index n modulo its capacity, and Next only grows. A reader that passes the last Next it has seen gets the
//       later samples.
//   I3  Each range has its own samples, not a selection of those of a finer range. So its gauges may cover the whole interval, as
//       percentiles do.
//
// While a page is open, the finest range gets a sample every second, otherwise every five seconds. docs/how-to/dashboard.md has the cost
// of a sample.
using System.Text.Json;

namespace Cairn.Dashboard.Pages.History;

/// <summary>Reads the numbers for a sample.</summary>
/// <param name="range">The range of the sample. Numbers that cover an interval cover the time since the last sample of this range.</param>
/// <param name="row">Receives the numbers in the order of the series.</param>
/// <returns>False if no numbers are available.</returns>
internal delegate bool SampleReader(int range, long[] row);

/// <summary>Samples numbers periodically and keeps the latest samples.</summary>
internal sealed class SampleHistory : IDisposable
{
    private static readonly TimeSpan s_watchedInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_idleInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_watchTime = TimeSpan.FromSeconds(15);

    // If a timer is late or early by at most this time, a coarser range still takes its sample.
    private static readonly TimeSpan s_timerSlack = TimeSpan.FromMilliseconds(500);

    private readonly Lock _lock = new();
    private readonly IReadOnlyList<Series> _series;
    private readonly SampleReader _read;
    private readonly TimeProvider _clock;
    private readonly ITimer _timer;
    private readonly long[] _row;
    private readonly Ring[] _rings;
    private readonly long _beganMs;
    private long[] _samples = [];
    private long _watchedAt = long.MinValue;
    private bool _isWatched;
    private bool _isDisposed;

    /// <summary>Begins sampling. The first sample is taken after the first interval, or when a page asks.</summary>
    /// <param name="series">The numbers to read.</param>
    /// <param name="read">Reads the numbers.</param>
    /// <param name="clock">The source of time.</param>
    public SampleHistory(IReadOnlyList<Series> series, SampleReader read, TimeProvider clock)
    {
        _series = series;
        _read = read;
        _clock = clock;
        _row = new long[series.Count];
        _rings = new Ring[HistoryRange.All.Count];
        int start = 0;
        for (int range = 0; range < _rings.Length; range++)
        {
            _rings[range].Start = start;
            start += HistoryRange.All[range].Capacity;
        }

        _beganMs = clock.GetUtcNow().ToUnixTimeMilliseconds();
        _timer = clock.CreateTimer(static history => ((SampleHistory)history!).Take(), this, s_idleInterval, s_idleInterval);
    }

    private int Stride => _series.Count + 1;

    /// <summary>Takes a sample for the finest range, and for each other range whose interval is over.</summary>
    public void Take()
    {
        lock (_lock)
        {
            long now = _clock.GetTimestamp();
            for (int range = 0; range < _rings.Length && !_isDisposed; range++)
            {
                ref Ring ring = ref _rings[range];
                bool isDue = range == 0 || ring.Next == 0
                    || _clock.GetElapsedTime(ring.TakenAt, now) >= HistoryRange.All[range].Interval - s_timerSlack;
                if (isDue && TryRead(range))
                {
                    Keep(range);
                    ring.TakenAt = now;
                }
            }

            if (_isWatched && _clock.GetElapsedTime(_watchedAt) > s_watchTime)
            {
                _isWatched = false;
                _timer.Change(s_idleInterval, s_idleInterval);
            }
        }
    }

    /// <summary>Writes the series, and the samples of a range after a given one. The call counts as a request of an open page.</summary>
    /// <param name="writer">The writer, positioned within an object.</param>
    /// <param name="range">An index in <see cref="HistoryRange.All"/>.</param>
    /// <param name="after">The value of <c>next</c> in the caller's last result; 0 for all samples.</param>
    public void Write(Utf8JsonWriter writer, int range, long after)
    {
        lock (_lock)
        {
            Watch();
            ref Ring ring = ref _rings[range];
            int capacity = HistoryRange.All[range].Capacity;
            writer.WriteNumber("nowMs"u8, _clock.GetUtcNow().ToUnixTimeMilliseconds());
            writer.WriteNumber("beganMs"u8, _beganMs);
            writer.WriteStartArray("series"u8);
            foreach (Series series in _series)
            {
                writer.WriteStartObject();
                writer.WriteString("name"u8, series.Name);
                writer.WriteString("kind"u8, series.Kind == SeriesKind.Counter ? "counter"u8 : "gauge"u8);
                writer.WriteEndObject();
            }

            writer.WriteEndArray();
            writer.WriteNumber("next"u8, ring.Next);
            writer.WriteStartArray("samples"u8);
            long first = Math.Max(Math.Max(0, ring.Next - capacity), after > ring.Next ? 0 : after); // I2. After a restart, all samples.
            for (long number = first; number < ring.Next; number++)
            {
                writer.WriteStartArray();
                foreach (long value in PlaceOf(range, number))
                {
                    writer.WriteNumberValue(value);
                }

                writer.WriteEndArray();
            }

            writer.WriteEndArray();
        }
    }

    public void Dispose()
    {
        lock (_lock)
        {
            _isDisposed = true;
        }

        _timer.Dispose();
    }

    private Span<long> PlaceOf(int range, long number) =>
        _samples.AsSpan((_rings[range].Start + (int)(number % HistoryRange.All[range].Capacity)) * Stride, Stride);

    private void Keep(int range)
    {
        if (_samples.Length == 0)
        {
            _samples = new long[HistoryRange.All.Sum(each => each.Capacity) * Stride]; // I1
        }

        Span<long> place = PlaceOf(range, _rings[range].Next++);
        place[0] = _clock.GetUtcNow().ToUnixTimeMilliseconds();
        _row.CopyTo(place[1..]);
    }

    // Runs on a timer's thread, where an exception would end the process. A failed read is temporary, or the store is about to close.
    private bool TryRead(int range)
    {
        try
        {
            return _read(range, _row);
        }
#pragma warning disable CA1031 // A gap in a chart must not end the process.
        catch (Exception)
#pragma warning restore CA1031
        {
            return false;
        }
    }

    private void Watch()
    {
        _watchedAt = _clock.GetTimestamp();
        if (!_isWatched)
        {
            _isWatched = true;
            _timer.Change(s_watchedInterval, s_watchedInterval);
            Take();
        }
    }

    // The index of a range's first sample in the block, the number of samples taken so far, and the time of the last one.
    private struct Ring
    {
        public int Start;
        public long Next;
        public long TakenAt;
    }
}
