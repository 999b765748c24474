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
//   a turn    all segment headers, without a lock; each segment that is due is swept, step by step
//
//   X1  A turn is bounded in time, and never waits for a lock: a partition that somebody holds is left to the next turn.
//   X2  A turn that looked in vain is followed by a pause in proportion to what it looked at. So looking in vain costs a few percent of a processor at
//       most, whatever the store's size, and nothing is looked at while nothing is due.
//   X3  What has to be known is in the file (SegmentEvictor.Sweep S1). What is remembered here only decides where to begin.
internal sealed class ExpirySweeper(StoreEngine engine)
{
    // A look at an entry takes up to 45 nanoseconds of processor time (docs/benchmarks.md), so this is twenty times as long or more.
    private const long PauseUsPerEntry = 1;
    private const int HeadersPerEntry = 2;

    // Of as many looks one is expected to find something: those are not in vain.
    private const int LooksPerRemoval = 8;
    private const long LongestPauseMs = 60_000;
    private static readonly TimeSpan LongestTurn = TimeSpan.FromMilliseconds(250);

    private int _next;
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
        StoreMemory memory = engine.Memory;
        memory.RefreshSegmentsEnd();
        long start = Stopwatch.GetTimestamp();
        int count = memory.SegmentCount;
        long looked = 0;
        long removed = 0;
        for (int i = 0; i < count; i++)
        {
            int segment = (int)((uint)_next % (uint)count);
            _next = segment + 1;
            if (!engine.IsDueToSweep(segment, now, out int partition))
            {
                continue;
            }

            while (engine.TrySweep(partition, segment, out SweepStep step))
            {
                looked += step.Looked;
                removed += step.Removed;
                if (step.IsDone)
                {
                    break;
                }

                if (Stopwatch.GetElapsedTime(start) > LongestTurn)
                {
                    _next = segment;
                    return new SweepTurn(looked, removed, IsComplete: false);
                }

                // Whoever waits for the lock by spinning gets it.
                Thread.SpinWait(10);
            }
        }

        return new SweepTurn(looked, removed, IsComplete: true);
    }
}
