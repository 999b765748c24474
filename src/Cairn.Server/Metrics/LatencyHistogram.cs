// A histogram of durations. Its cells are finer for shorter durations: each power of two has 32 cells of equal width. So a cell is at
// most 1/32 (3.1 %) as wide as the durations in it.
//
//   ns   0      1 ... 32     33 ... 64    65, 66 ... 127, 128    129-132 ... 253-256   ...  up to 2^37 (137 s)
//        |      one each     one each     two each               four each
//
//   I1  A cell holds durations above its lower end and up to its upper end. So the count "up to a power of two" is exact, as
//       Prometheus requires.
//   I2  One thread records. Others may read at the same time, and see numbers that need not be consistent.
//   I3  The size is constant: 8.3 KiB.
namespace Cairn.Server.Metrics;

/// <summary>A histogram of durations in nanoseconds. One thread records; any thread may read.</summary>
internal sealed class LatencyHistogram
{
    /// <summary>The maximum relative error of a duration that is read: it is too long by at most this fraction.</summary>
    public const double RelativeError = 1.0 / CellsPerPower;

    /// <summary>The longest duration: 137 seconds. Longer ones count as this.</summary>
    public const long LongestNs = 1L << LongestPower;

    private const int CellsPerPower = 32;
    private const int CellBits = 5;
    private const int LongestPower = 37;
    private const int CellCount = (LongestPower - CellBits + 1) * CellsPerPower;

    private readonly long[] _cells = new long[CellCount];
    private long _sumNs;
    private long _longestNs;

    /// <summary>Gets the sum of all durations, in nanoseconds.</summary>
    public long SumNs => Volatile.Read(ref _sumNs);

    /// <summary>Gets the exact longest duration, in nanoseconds.</summary>
    public long MaxNs => Volatile.Read(ref _longestNs);

    /// <summary>Gets the number of durations recorded.</summary>
    public long Count
    {
        get
        {
            long count = 0;
            foreach (ref long cell in _cells.AsSpan())
            {
                count += Volatile.Read(ref cell);
            }

            return count;
        }
    }

    /// <summary>The mean, in nanoseconds; 0 if nothing was recorded.</summary>
    public double MeanNs => Count is var count && count == 0 ? 0 : (double)SumNs / count;

    /// <summary>Records a number of equal durations. Recording thread only.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Record(long ns, long count = 1)
    {
        if (ns > _longestNs)
        {
            _longestNs = ns;
        }

        // Plain additions: there is one writer (I2), and 64-bit stores are not torn.
        _cells[CellOf(ns)] += count;
        _sumNs += ns * count;
    }

    /// <summary>Adds the durations of another histogram. Recording thread of this one only.</summary>
    public void Add(LatencyHistogram other)
    {
        for (int i = 0; i < CellCount; i++)
        {
            _cells[i] += Volatile.Read(ref other._cells[i]);
        }

        _sumNs += other.SumNs;
        _longestNs = Math.Max(_longestNs, other.MaxNs);
    }

    /// <summary>Subtracts the durations of another histogram, which must be contained in this one. The rest was recorded later. The
    /// longest duration is then unknown, and becomes the upper end of its cell. Recording thread of this one only.</summary>
    public void Subtract(LatencyHistogram other)
    {
        int longest = -1;
        for (int i = 0; i < CellCount; i++)
        {
            _cells[i] = Math.Max(0, _cells[i] - Volatile.Read(ref other._cells[i]));
            longest = _cells[i] > 0 ? i : longest;
        }

        _sumNs = Math.Max(0, _sumNs - other.SumNs);
        _longestNs = longest < 0 ? 0 : Math.Min(_longestNs, UpperEnd(longest));
    }

    /// <summary>Returns how many durations are not longer than a power of two nanoseconds. Exact (I1).</summary>
    /// <param name="power">The exponent, 5 to 37: 32 ns to 137 s.</param>
    public long CountUpToPowerOfTwo(int power)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(power, CellBits);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(power, LongestPower);
        long count = 0;
        foreach (ref long cell in _cells.AsSpan(0, (power - CellBits + 1) * CellsPerPower))
        {
            count += Volatile.Read(ref cell);
        }

        return count;
    }

    /// <summary>Returns a percentile: the upper end of its cell, but at most the longest duration.</summary>
    /// <param name="part">The fraction of durations that are not longer, 0 to 1: 0.5 for the median, 0.99 for the 99th
    /// percentile.</param>
    /// <returns>The percentile in nanoseconds; 0 if nothing was recorded.</returns>
    public long Percentile(double part)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(part);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(part, 1);
        long rank = Math.Max(1, (long)Math.Ceiling(part * Count));
        long below = 0;
        for (int i = 0; i < CellCount; i++)
        {
            below += Volatile.Read(ref _cells[i]);
            if (below >= rank)
            {
                return Math.Min(UpperEnd(i), MaxNs);
            }
        }

        return 0;
    }

    /// <summary>The times of this one without those of an earlier copy of it: what came since.</summary>
    public LatencyHistogram Since(LatencyHistogram earlier)
    {
        var difference = new LatencyHistogram();
        difference.Add(this);
        difference.Subtract(earlier);
        return difference;
    }

    /// <summary>The cells that hold something, shortest first: from one time up to another, both in nanoseconds, and the number.</summary>
    public IEnumerable<(long From, long To, long Count)> Filled()
    {
        for (int i = 0; i < CellCount; i++)
        {
            long count = Volatile.Read(ref _cells[i]);
            if (count != 0)
            {
                yield return (i == 0 ? 0 : UpperEnd(i - 1) + 1, UpperEnd(i), count);
            }
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int CellOf(long ns)
    {
        // One less, so that a cell's upper end belongs to it (I1). A duration of 0 counts as 1.
        ulong value = (ulong)Math.Clamp(ns - 1, 0, LongestNs - 1);
        int shift = Math.Max(0, BitOperations.Log2(value | 1) - CellBits);
        return (shift << CellBits) + (int)(value >> shift);
    }

    private static long UpperEnd(int cell)
    {
        int shift = Math.Max(0, (cell >> CellBits) - 1);
        return ((long)(cell - (shift << CellBits)) + 1) << shift;
    }
}
