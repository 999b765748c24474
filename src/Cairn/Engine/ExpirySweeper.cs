using System.Diagnostics;
using Cairn.Eviction;
using Cairn.Storage;

namespace Cairn.Engine;

/// <summary>What one turn of the sweeper has done.</summary>
/// <param name="Looked">Entries that it looked at.</param>
/// <param name="Removed">Entries that it took out.</param>
/// <param name="IsComplete">False if there was more to do than one turn may.</param>
internal readonly record struct SweepTurn(long Looked, long Removed, bool IsComplete);

// Looks for segments whose first entry has expired, and sweeps them: the share of one opening.
//
//   a turn    all segment headers, without a lock; then a step in each partition that has segments that are due, and again, until all are swept
//
//   X1  A turn is bounded in time, and never waits for a lock: a segment whose partition somebody holds is left to the next turn.
//   X2  A turn that looked in vain is followed by a pause in proportion to what it looked at. So looking in vain costs a few percent of a processor at
//       most, whatever the store's size, and nothing is looked at while nothing is due.
//   X3  No partition is locked twice running while others have work, so who waits for its lock waits for one step.
//   X4  What has to be known is in the file (SegmentEvictor.Sweep S1). What is remembered here only decides where to begin.
internal sealed class ExpirySweeper(StoreEngine engine)
{
    // A look at an entry takes up to 45 nanoseconds of processor time (docs/benchmarks.md), so this is twenty times as long or more.
    private const long PauseUsPerEntry = 1;
    private const int HeadersPerEntry = 2;

    // Of as many looks one is expected to find something: those are not in vain.
    private const int LooksPerRemoval = 8;
    private const long LongestPauseMs = 60_000;
    private static readonly TimeSpan LongestTurn = TimeSpan.FromMilliseconds(250);

    // Longer than who waits for a lock goes between two looks at it (PartitionLock).
    private const int SpinsBetweenSteps = 25;

    // The segments that are due: the first of each partition, and those behind it.
    private int[] _due = [];
    private int[] _dueAfter = [];
    private int _begin;
    private int _running;
    private long _pausedUntilMs;

    /// <summary>A turn, unless the last one asked for a pause or is still under way.</summary>
    public SweepTurn Run()
    {
        long now = engine.Clock.NowMs();
        long left = Volatile.Read(ref _pausedUntilMs) - now;
        if (left is > 0 and <= LongestPauseMs || Interlocked.Exchange(ref _running, 1) != 0) // Longer: the clock was set back.
        {
            return new SweepTurn(0, 0, IsComplete: false);
        }

        try
        {
            SweepTurn turn = RunNow(now);
            long inVain = turn.Looked - (turn.Removed * LooksPerRemoval) + (engine.Memory.SegmentCount / HeadersPerEntry);
            Volatile.Write(ref _pausedUntilMs, now + Math.Clamp(inVain * PauseUsPerEntry / 1000, 0, LongestPauseMs));
            return turn;
        }
        finally
        {
            Volatile.Write(ref _running, 0);
        }
    }

    private SweepTurn RunNow(long now)
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
                if (!engine.TrySweep(partition, segment, out SweepStep step) || step.IsDone)
                {
                    _due[partition] = _dueAfter[segment];
                }

                looked += step.Looked;
                removed += step.Removed;
                if (Stopwatch.GetElapsedTime(start) > LongestTurn)
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

    // Segments are numbered from 1 in these lists; 0 ends one. False if none is due.
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
            // Backwards, because each is put before those of its partition that were found already.
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
