// How often something took how long, in cells that are finer the shorter the time: 32 cells of equal width to every power of two,
// so a cell is at most 1/32 (3.1 %) as wide as the times in it.
//
//   ns   0      1 ... 32     33 ... 64    65, 66 ... 127, 128    129-132 ... 253-256   ...  up to 2^37 (137 s)
//        |      one each     one each     two each               four each
//
//   I1  A cell holds times above its lower and up to its upper end, so that "up to a power of two" is exact: what Prometheus asks.
//   I2  One thread records. Others may read meanwhile, and see numbers that need not be of the same moment.
//   I3  The size never changes: 8.3 KiB, whatever is recorded.
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Cairn.Server.Metrics;

/// <summary>A histogram of times, in nanoseconds. One thread records, any thread reads.</summary>
internal sealed class LatencyHistogram
{
    /// <summary>What a time that is read differs from the true one by, at most: it is too long by this part of it.</summary>
    public const double RelativeError = 1.0 / CellsPerPower;

    /// <summary>Times above count as this: 137 seconds.</summary>
    public const long LongestNs = 1L << LongestPower;

    private const int CellsPerPower = 32;
    private const int CellBits = 5;
    private const int LongestPower = 37;
    private const int CellCount = (LongestPower - CellBits + 1) * CellsPerPower;

    private readonly long[] _cells = new long[CellCount];
    private long _sumNs;
    private long _longestNs;

    /// <summary>The sum of all times, in nanoseconds.</summary>
    public long SumNs => Volatile.Read(ref _sumNs);

    /// <summary>The longest time, in nanoseconds, exactly.</summary>
    public long MaxNs => Volatile.Read(ref _longestNs);

    /// <summary>How many times were recorded.</summary>
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

    /// <summary>So many things took this long each. The recording thread only.</summary>
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

    /// <summary>Adds another's times. The recording thread of this one only.</summary>
    public void Add(LatencyHistogram other)
    {
        for (int i = 0; i < CellCount; i++)
        {
            _cells[i] += Volatile.Read(ref other._cells[i]);
        }

        _sumNs += other.SumNs;
        _longestNs = Math.Max(_longestNs, other.MaxNs);
    }

    /// <summary>Takes another's times away, which were in this one: what is left came later. The longest time is not known then, and is that
    /// of the cell it lies in. The recording thread of this one only.</summary>
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

    /// <summary>How many took no longer than a power of two nanoseconds; exact (I1).</summary>
    /// <param name="power">5 to 37: 32 ns to 137 s.</param>
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

    /// <summary>The time that a part of them did not exceed: the upper end of the cell it lies in, and no more than the longest.</summary>
    /// <param name="part">0 to 1: 0.5 for the median, 0.99 for what one in a hundred exceeded.</param>
    /// <returns>Nanoseconds; 0 if nothing was recorded.</returns>
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

    /// <summary>Calls with the upper end in nanoseconds, and the number, of each cell that holds something, shortest first.</summary>
    public void ForEachCell(Action<long, long> visit)
    {
        for (int i = 0; i < CellCount; i++)
        {
            long count = Volatile.Read(ref _cells[i]);
            if (count != 0)
            {
                visit(UpperEnd(i), count);
            }
        }
    }

    /// <summary>Forgets everything. The recording thread only.</summary>
    public void Clear()
    {
        Array.Clear(_cells);
        _sumNs = 0;
        _longestNs = 0;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int CellOf(long ns)
    {
        // One less, so that a cell's upper end belongs to it (I1); none takes less than no time.
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
