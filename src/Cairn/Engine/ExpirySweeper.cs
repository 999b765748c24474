using System.Runtime.ExceptionServices;
using Cairn.Eviction;

namespace Cairn.Engine;

/// <summary>The result of one turn of the sweeper.</summary>
/// <param name="Looked">The number of entries that it examined.</param>
/// <param name="Removed">The number of entries that it removed.</param>
/// <param name="IsComplete">False if one turn was not long enough for all the work.</param>
internal readonly record struct SweepTurn(long Looked, long Removed, bool IsComplete);

// Finds segments whose first entry has expired, and sweeps them, for one opening.
//
//   a turn    reads all segment headers, without a lock. Then it does one step in each partition that has due segments. It repeats this until
//             all are swept.
//
//   X1  A turn is bounded in time and never waits for a lock. If another thread holds a partition, its segment waits for the next turn.
//   X2  After a turn that removed too little, a pause follows, in proportion to the number of entries examined. So useless turns cost at most a
//       few percent of a processor, whatever the store's size. While nothing is due, no entry is examined.
//   X3  No partition is locked twice in a row while other partitions have work. So a thread that waits for its lock waits for one step.
//   X4  The file contains all necessary state (SegmentEvictor.Sweep S1). The state here only decides where a turn begins.
//   X5  A partition that cannot be swept does not keep the others from being swept. The turn throws its failure at its end.
internal sealed class ExpirySweeper(StoreEngine engine)
{
    /// <summary>The real time after which a turn in the background ends.</summary>
    public static readonly TimeSpan LongestTurn = TimeSpan.FromMilliseconds(250);

    // In microseconds. Examining an entry takes up to 45 nanoseconds of processor time (docs/benchmarks.md), so the pause is at least twenty times as long.
    private const long PauseUsPerEntry = 1;
    private const int HeadersPerEntry = 2;

    // One removal is expected per this many examined entries. Those entries do not add to the pause.
    private const int LooksPerRemoval = 8;
    private const long LongestPauseMs = 60_000;

    // Longer than the time between two reads of a lock word by a waiting thread (PartitionLock).
    private const int SpinsBetweenSteps = 25;

    // The due segments: the first of each partition, and the next one after each segment.
    private int[] _due = [];
    private int[] _dueAfter = [];
    private int _begin;
    private int _running;
    private long _pausedUntilMs;
    private ExceptionDispatchInfo? _failure;

    public StoreEngine Engine => engine;

    /// <summary>Gets the reason why the last turn failed. Null if it did not fail.</summary>
    public string? LastFailure { get; private set; }

    /// <summary>Runs a turn, unless the pause after the last turn has not ended or another turn is running.</summary>
    /// <param name="longestTurn">The real time after which the turn ends, even if segments are left.</param>
    public SweepTurn Run(TimeSpan longestTurn)
    {
        long now = engine.Clock.NowMs();
        long left = Volatile.Read(ref _pausedUntilMs) - now;
        if (left is > 0 and <= LongestPauseMs || Interlocked.Exchange(ref _running, 1) != 0) // Longer: the clock was set back.
        {
            return new SweepTurn(0, 0, IsComplete: false);
        }

        try
        {
            _failure = null;
            SweepTurn turn = RunNow(now, longestTurn);
            LastFailure = _failure?.SourceException.Message;
            long inVain = turn.Looked - (turn.Removed * LooksPerRemoval) + (engine.Memory.SegmentCount / HeadersPerEntry);
            Volatile.Write(ref _pausedUntilMs, now + Math.Clamp(inVain * PauseUsPerEntry / 1000, 0, LongestPauseMs));
            _failure?.Throw();
            return turn;
        }
        finally
        {
            Volatile.Write(ref _running, 0);
        }
    }

    private SweepTurn RunNow(long now, TimeSpan longestTurn)
    {
        if (!ListDue(now))
        {
            return new SweepTurn(0, 0, IsComplete: true);
        }

        long start = Stopwatch.GetTimestamp();
        long looked = 0;
        long removed = 0;
        int partitions;
        do
        {
            partitions = 0;
            for (int partition = 0; partition < _due.Length; partition++)
            {
                int segment = _due[partition] - 1;
                if (segment < 0)
                {
                    continue;
                }

                partitions++;
                if (!TrySweep(partition, segment, out SweepStep step) || step.IsDone)
                {
                    _due[partition] = _dueAfter[segment];
                }

                looked += step.Looked;
                removed += step.Removed;
                if (Stopwatch.GetElapsedTime(start) > longestTurn)
                {
                    _begin = segment;
                    return new SweepTurn(looked, removed, IsComplete: false);
                }
            }

            if (partitions == 1)
            {
                Thread.SpinWait(SpinsBetweenSteps);
            }
        }
        while (partitions > 0);
        return new SweepTurn(looked, removed, IsComplete: true);
    }

    private bool TrySweep(int partition, int segment, out SweepStep step)
    {
        try
        {
            return engine.TrySweep(partition, segment, out step);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            _failure ??= ExceptionDispatchInfo.Capture(failure); // X5
            step = default;
            return false;
        }
    }

    // Segments are numbered from 1 in these lists; 0 ends a list. Returns false if no segment is due.
    private bool ListDue(long now)
    {
        StoreMemory memory = engine.Memory;
        memory.RefreshSegmentsEnd();
        int count = memory.SegmentCount;
        if (_dueAfter.Length < count)
        {
            _due = new int[memory.PartitionCount];
            _dueAfter = new int[count];
        }

        Array.Clear(_due);
        bool isAny = false;
        for (int i = 0; i < count; i++)
        {
            // In descending order, because each segment is put in front of those of its partition.
            int segment = (int)(((uint)_begin + (uint)(count - 1 - i)) % (uint)count);
            if (!engine.IsDueToSweep(segment, now, out int partition))
            {
                continue;
            }

            isAny = true;
            _dueAfter[segment] = _due[partition];
            _due[partition] = segment + 1;
        }

        return isAny;
    }
}
