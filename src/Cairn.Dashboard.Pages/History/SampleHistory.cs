// What a few numbers were in the last minutes, so that a page has something to show when it is opened.
//
//   I1  At most Capacity samples are kept, in one block that is allocated once; taking one allocates nothing here.
//   I2  Sample n lies at n modulo Capacity, and _next counts on for ever: a reader that says what it has seen gets what came later.
//
// While somebody looks, there is a sample a second; otherwise one in five; docs/how-to/dashboard.md says what one costs.
using System.Text.Json;

namespace Cairn.Dashboard.Pages.History;

/// <summary>Reads numbers again and again, and keeps the last ones.</summary>
internal sealed class SampleHistory : IDisposable
{
    /// <summary>Samples that are kept: ten minutes while somebody looks.</summary>
    public const int Capacity = 600;

    private static readonly TimeSpan s_watchedInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_idleInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_watchTime = TimeSpan.FromSeconds(15);

    private readonly Lock _lock = new();
    private readonly IReadOnlyList<Series> _series;
    private readonly Func<long[], bool> _read;
    private readonly TimeProvider _clock;
    private readonly ITimer _timer;
    private readonly long[] _row;
    private long[] _samples = [];
    private long _next;
    private long _watchedAt = long.MinValue;
    private bool _isWatched;
    private bool _isDisposed;

    /// <summary>Begins; the first sample is taken when the first interval is over, or somebody looks.</summary>
    /// <param name="series">What is read.</param>
    /// <param name="read">Puts the numbers, in the order of the series, into the array; false if there is nothing to be had.</param>
    /// <param name="clock">Source of time.</param>
    public SampleHistory(IReadOnlyList<Series> series, Func<long[], bool> read, TimeProvider clock)
    {
        _series = series;
        _read = read;
        _clock = clock;
        _row = new long[series.Count];
        _timer = clock.CreateTimer(static history => ((SampleHistory)history!).Take(), this, s_idleInterval, s_idleInterval);
    }

    private int Stride => _series.Count + 1;

    /// <summary>Takes a sample now.</summary>
    public void Take()
    {
        lock (_lock)
        {
            if (_isDisposed || !TryRead())
            {
                return;
            }

            if (_samples.Length == 0)
            {
                _samples = new long[Capacity * Stride];
            }

            Span<long> place = _samples.AsSpan((int)(_next % Capacity) * Stride, Stride);
            place[0] = _clock.GetUtcNow().ToUnixTimeMilliseconds();
            _row.CopyTo(place[1..]);
            _next++;
            if (_isWatched && _clock.GetElapsedTime(_watchedAt) > s_watchTime)
            {
                _isWatched = false;
                _timer.Change(s_idleInterval, s_idleInterval);
            }
        }
    }

    /// <summary>Writes the series, and the samples that came after one; somebody looks, then.</summary>
    /// <param name="writer">Within an object.</param>
    /// <param name="after">What <c>next</c> was when the caller last asked; 0 for all there are.</param>
    public void Write(Utf8JsonWriter writer, long after)
    {
        lock (_lock)
        {
            Watch();
            writer.WriteNumber("nowMs"u8, _clock.GetUtcNow().ToUnixTimeMilliseconds());
            writer.WriteStartArray("series"u8);
            foreach (Series series in _series)
            {
                writer.WriteStartObject();
                writer.WriteString("name"u8, series.Name);
                writer.WriteString("kind"u8, series.Kind == SeriesKind.Counter ? "counter"u8 : "gauge"u8);
                writer.WriteEndObject();
            }

            writer.WriteEndArray();
            writer.WriteNumber("next"u8, _next);
            writer.WriteStartArray("samples"u8);
            long first = Math.Max(Math.Max(0, _next - Capacity), after > _next ? 0 : after); // I2; a caller from before a restart gets all.
            for (long number = first; number < _next; number++)
            {
                writer.WriteStartArray();
                foreach (long value in _samples.AsSpan((int)(number % Capacity) * Stride, Stride))
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

    // On a timer's thread, where nobody could catch it: what cannot be read now may be later, or is about to close.
    private bool TryRead()
    {
        try
        {
            return _read(_row);
        }
#pragma warning disable CA1031 // A gap in a chart is no reason to end the process.
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
}
