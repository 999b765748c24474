// Counts the requests of one worker and measures their duration. Sessions count requests as they execute them. The worker, which knows
// the time, records the duration once for a whole batch. So a request costs an addition or two, and does not read a clock.
//
//   worker:   BeginBatch                                              EndBatch
//   session:              Count(get)  Count(get)  CountLookups  Count(set)
//
//   I1  One thread writes: the worker's. Others may read slightly stale cells.
//   I2  _touched holds each command that has Pending > 0, once.
//
// The latency of a request is that of its batch: from the moment at which the worker learned that its bytes had arrived until the kernel
// had the replies of all connections that were served together. It includes waiting for earlier requests of the batch and for other
// connections of the turn. It does not include the time in the kernel's own queues. Busy time is the worker's own, divided equally among
// the requests of a batch. Its sum is the time that the worker has worked.
using Cairn.Server.Exposition;

namespace Cairn.Server.Metrics;

/// <summary>Counts the requests of one worker, and the time they take.</summary>
internal sealed class RequestRecorder
{
    /// <summary>The maximum number of commands.</summary>
    public const int MaxCommands = 512;

    /// <summary>The index of memcached's first command. The index of a command is this number plus its MemcachedCommand.</summary>
    public const int Memcached = 0;

    /// <summary>The index of the first command of RESP.</summary>
    public const int Resp = 64;

    // After a batch was slow for an unknown reason, every request is timed for this long, to find the reason if it happens again.
    private const long WatchNs = 10_000_000_000;

    // Below this threshold, batches are not precise enough, so every request is timed.
    private const long WatchAllBelowNs = 1_000_000;

    private readonly Cell[] _cells = new Cell[MaxCommands];
    private readonly LatencyHistogram?[] _latencies = new LatencyHistogram?[MaxCommands];
    private readonly int[] _touched = new int[MaxCommands];
    private readonly SlowLog _slow;
    private readonly TimeProvider _clock;
    private readonly double _nsPerTick;
    private int _touchedCount;
    private long _slowBefore;
    private long _slowCount;
    private long _watchUntil = long.MinValue;

    public RequestRecorder(SlowLog slow, TimeProvider clock, KeySamples? keys = null)
    {
        Keys = keys ?? new KeySamples(clock);
        _slow = slow;
        _clock = clock;
        _nsPerTick = 1e9 / clock.TimestampFrequency;
        WatchesAll = slow.ThresholdNs < WatchAllBelowNs;
    }

    /// <summary>Gets whether every request is timed, not only those that may take long.</summary>
    public bool WatchesAll { get; private set; }

    /// <summary>The number of bytes received, as transferred by the network.</summary>
    public long BytesReceived;

    /// <summary>The number of bytes that the kernel took.</summary>
    public long BytesSent;

    // --- Members for sessions ---

    /// <summary>Gets the samples to which sessions report the keys of requests that they read ahead, if samples are wanted.</summary>
    public KeySamples Keys { get; }

    /// <summary>Counts an executed request.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Count(int command)
    {
        ref Cell cell = ref _cells[command];
        cell.Requests++;
        if (cell.Pending++ == 0)
        {
            _touched[_touchedCount++] = command; // I2
        }
    }

    /// <summary>Counts a request that was answered with an error. <see cref="Count"/> also counts it.</summary>
    public void CountError(int command) => _cells[command].Errors++;

    /// <summary>Counts a request that was refused before it was executed, because it is unknown, malformed or not allowed.
    /// <see cref="Count"/> does not count it.</summary>
    public void CountRejected(int command) => _cells[command].Rejected++;

    /// <summary>Counts the keys that a request looked up.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void CountLookups(int command, int hits, int misses)
    {
        ref Cell cell = ref _cells[command];
        cell.Hits += hits;
        cell.Misses += misses;
    }

    /// <summary>Starts to time a request, if it may take long or all requests are timed.</summary>
    /// <returns>The argument for <see cref="IsSlow"/>; 0 if the request is not timed.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long Watch(bool mayTakeLong) => mayTakeLong || WatchesAll ? _clock.GetTimestamp() + 1 : 0;

    /// <summary>Returns whether a timed request was slow. The caller then calls <see cref="AddSlow"/>.</summary>
    public bool IsSlow(long watched, out TimeSpan duration)
    {
        if (watched == 0)
        {
            duration = default;
            return false;
        }

        long ns = ToNs(_clock.GetTimestamp() - (watched - 1)); // The value is one more than the time, which may be 0.
        duration = TimeSpan.FromMicroseconds(ns / 1e3);
        return ns >= _slow.ThresholdNs;
    }

    /// <summary>Adds a slow request to the log.</summary>
    public void AddSlow(in SlowRequest request)
    {
        _slowCount++;
        _slow.Add(request);
    }

    // --- Members for the worker ---

    /// <summary>Gets whether a batch has anything to record.</summary>
    public bool HasPending => _touchedCount != 0;

    /// <summary>Records the requests counted since the last call, which have been answered.</summary>
    /// <param name="arrived">The time at which the worker learned of them, as the clock's timestamp.</param>
    /// <param name="began">The time at which it began to work on them.</param>
    /// <param name="now">The time at which the kernel had their replies.</param>
    /// <returns>The worker's time for a batch that was slow without a known slow request; otherwise zero.</returns>
    public TimeSpan EndBatch(long arrived, long began, long now)
    {
        long latencyNs = ToNs(now - arrived);
        long busyNs = ToNs(now - began);
        int requests = 0;
        for (int i = 0; i < _touchedCount; i++)
        {
            requests += _cells[_touched[i]].Pending;
        }

        long share = requests == 0 ? 0 : busyNs / requests;
        for (int i = 0; i < _touchedCount; i++)
        {
            int command = _touched[i];
            ref Cell cell = ref _cells[command];
            cell.BusyNs += share * cell.Pending;
            (_latencies[command] ?? AddLatencies(command)).Record(latencyNs, cell.Pending);
            cell.Pending = 0;
        }

        _touchedCount = 0;
        long threshold = _slow.ThresholdNs;
        bool isUnexplained = busyNs >= threshold && _slowCount == _slowBefore;
        _slowBefore = _slowCount;
        if (isUnexplained)
        {
            _watchUntil = now + (long)(WatchNs / _nsPerTick);
        }

        WatchesAll = threshold < WatchAllBelowNs || (threshold != SlowLog.Off && now < _watchUntil);
        return isUnexplained ? TimeSpan.FromMicroseconds(busyNs / 1e3) : TimeSpan.Zero;
    }

    // --- Members for any thread ---

    /// <summary>Returns the number of requests executed.</summary>
    public long Requests(int command) => Volatile.Read(ref _cells[command].Requests);

    /// <summary>Returns how many of them were answered with an error.</summary>
    public long Errors(int command) => Volatile.Read(ref _cells[command].Errors);

    /// <summary>Returns the number of requests that were refused before they were executed.</summary>
    public long Rejected(int command) => Volatile.Read(ref _cells[command].Rejected);

    /// <summary>Returns the number of keys that were looked up and found.</summary>
    public long Hits(int command) => Volatile.Read(ref _cells[command].Hits);

    /// <summary>Returns the number of keys that were looked up and not found.</summary>
    public long Misses(int command) => Volatile.Read(ref _cells[command].Misses);

    /// <summary>Returns the worker's time, in nanoseconds.</summary>
    public long BusyNs(int command) => Volatile.Read(ref _cells[command].BusyNs);

    /// <summary>Returns the latencies; null if there was no request yet.</summary>
    public LatencyHistogram? Latencies(int command) => Volatile.Read(ref _latencies[command]);

    // Called once per command and worker. Later requests of the command do not allocate.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private LatencyHistogram AddLatencies(int command)
    {
        var histogram = new LatencyHistogram();
        Volatile.Write(ref _latencies[command], histogram); // Release: a reader that sees the histogram sees it initialised.
        return histogram;
    }

    private long ToNs(long ticks) => _clock.TimestampFrequency == 1_000_000_000 ? ticks : (long)(ticks * _nsPerTick);

    [StructLayout(LayoutKind.Sequential)]
    private struct Cell
    {
        public long Requests;
        public int Pending;
        public long Errors;
        public long Rejected;
        public long Hits;
        public long Misses;
        public long BusyNs;
    }
}
