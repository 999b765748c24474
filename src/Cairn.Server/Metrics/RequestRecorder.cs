// What one worker's requests were and how long they took. Sessions count requests as they execute them; the worker, which knows the
// time, says once for all of a batch how long they took. So a request costs an addition or two, and no look at a clock.
//
//   worker:   BeginBatch                                              EndBatch
//   session:              Count(get)  Count(get)  CountLookups  Count(set)
//
//   I1  One thread writes: the worker's. Others read cells that may be a moment old.
//   I2  _touched holds each command that has Pending > 0, once.
//
// The latency of a request is that of its batch: from the moment at which the worker learned that its bytes had arrived until the
// replies of all connections served together had been handed to the kernel. Waiting for the requests before it in the batch, and for
// the other connections of the turn, is in it; the time in the kernel's own queues is not. Busy time is the worker's own, shared out
// evenly over the requests of a batch; its sum is what the worker has worked.
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Cairn.Server.Metrics;

/// <summary>Counts the requests of one worker, and the time they take.</summary>
internal sealed class RequestRecorder
{
    /// <summary>Commands that a recorder has room for.</summary>
    public const int MaxCommands = 512;

    /// <summary>The first command of memcached's protocol: its number is this and that of MemcachedCommand.</summary>
    public const int Memcached = 0;

    /// <summary>The first command of RESP.</summary>
    public const int Resp = 64;

    // When something was slow and nobody knows what: how long every request is watched, to find out if it happens again.
    private const long WatchNs = 10_000_000_000;

    // Below this threshold, batches say too little: every request is watched.
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

    /// <summary>Whether every request is to be watched for being slow, not only those that may take long.</summary>
    public bool WatchesAll { get; private set; }

    /// <summary>Bytes that arrived, as they came over the wire.</summary>
    public long BytesReceived;

    /// <summary>Bytes that the kernel took.</summary>
    public long BytesSent;

    // --- Sessions ---

    /// <summary>Where a session that reads a batch of requests ahead says which keys are asked for, if that is wanted.</summary>
    public KeySamples Keys { get; }

    /// <summary>A request was executed.</summary>
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

    /// <summary>The request was answered with an error. It is counted by <see cref="Count"/> as well.</summary>
    public void CountError(int command) => _cells[command].Errors++;

    /// <summary>A request was refused before it was executed: it is unknown, malformed or not allowed. Not counted otherwise.</summary>
    public void CountRejected(int command) => _cells[command].Rejected++;

    /// <summary>A request looked for keys.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void CountLookups(int command, int hits, int misses)
    {
        ref Cell cell = ref _cells[command];
        cell.Hits += hits;
        cell.Misses += misses;
    }

    /// <summary>Begins to watch a request for being slow, if it may take long or all are watched.</summary>
    /// <returns>What <see cref="IsSlow"/> wants to know; 0 if it is not watched.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long Watch(bool mayTakeLong) => mayTakeLong || WatchesAll ? _clock.GetTimestamp() + 1 : 0;

    /// <summary>Whether a watched request was slow: then <see cref="AddSlow"/> it.</summary>
    public bool IsSlow(long watched, out TimeSpan duration)
    {
        if (watched == 0)
        {
            duration = default;
            return false;
        }

        long ns = ToNs(_clock.GetTimestamp() - (watched - 1)); // One more than the time, which may be 0.
        duration = TimeSpan.FromMicroseconds(ns / 1e3);
        return ns >= _slow.ThresholdNs;
    }

    /// <summary>Puts a slow request into the log.</summary>
    public void AddSlow(in SlowRequest request)
    {
        _slowCount++;
        _slow.Add(request);
    }

    // --- The worker ---

    /// <summary>Whether a batch has anything to record.</summary>
    public bool HasPending => _touchedCount != 0;

    /// <summary>The requests counted since the last time have been answered.</summary>
    /// <param name="arrived">When the worker learned of them, as the clock's timestamp.</param>
    /// <param name="began">When it began to work on them.</param>
    /// <param name="now">When their replies were handed to the kernel.</param>
    /// <returns>How long the worker worked on a batch in which something was slow that nobody has named; zero otherwise.</returns>
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

    // --- Any thread ---

    /// <summary>Requests executed.</summary>
    public long Requests(int command) => Volatile.Read(ref _cells[command].Requests);

    /// <summary>Of those, requests that were answered with an error.</summary>
    public long Errors(int command) => Volatile.Read(ref _cells[command].Errors);

    /// <summary>Requests that were refused before they were executed.</summary>
    public long Rejected(int command) => Volatile.Read(ref _cells[command].Rejected);

    /// <summary>Keys that were looked for and found.</summary>
    public long Hits(int command) => Volatile.Read(ref _cells[command].Hits);

    /// <summary>Keys that were looked for and not found.</summary>
    public long Misses(int command) => Volatile.Read(ref _cells[command].Misses);

    /// <summary>The worker's time, in nanoseconds.</summary>
    public long BusyNs(int command) => Volatile.Read(ref _cells[command].BusyNs);

    /// <summary>The latencies; null if there was no request yet.</summary>
    public LatencyHistogram? Latencies(int command) => Volatile.Read(ref _latencies[command]);

    // Once per command and worker; a command that is used allocates no more.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private LatencyHistogram AddLatencies(int command)
    {
        var histogram = new LatencyHistogram();
        Volatile.Write(ref _latencies[command], histogram); // Release: whoever sees it sees it made.
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
