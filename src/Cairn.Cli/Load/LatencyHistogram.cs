// How often each latency was seen, in bins that are at most 1/128 wide in proportion: wide enough to need no more than a few
// thousand, narrow enough that nobody sees the difference.
//
//   bin   0 .. 255     a nanosecond each
//         e*128 + m    m << e up to (m + 1) << e, for m of 128 to 255
//
// Written by one thread, read by any: a reader may miss what was counted last.
using System.Numerics;

namespace Cairn.Cli.Load;

internal sealed class LatencyHistogram
{
    private const int PartBits = 7;
    private const int Parts = 1 << PartBits;

    // 2^40 ns are 18 minutes; longer is counted there.
    private const int MostBits = 40;
    private const int Bins = ((MostBits - PartBits) * Parts) + Parts;

    private readonly long[] _counts = new long[Bins];

    public long Count
    {
        get
        {
            long count = 0;
            foreach (long bin in _counts)
            {
                count += bin;
            }

            return count;
        }
    }

    public void Record(long nanoseconds, long times)
    {
        ulong value = (ulong)Math.Clamp(nanoseconds, 0, (1L << MostBits) - 1);
        int shift = Math.Max(0, BitOperations.Log2(value) - PartBits);
        _counts[(shift * Parts) + (int)(value >> shift)] += times;
    }

    public void Add(LatencyHistogram other)
    {
        for (int i = 0; i < Bins; i++)
        {
            _counts[i] += other._counts[i];
        }
    }

    /// <summary>What was counted since an earlier copy was taken.</summary>
    public LatencyHistogram Since(LatencyHistogram earlier)
    {
        var difference = new LatencyHistogram();
        for (int i = 0; i < Bins; i++)
        {
            difference._counts[i] = _counts[i] - earlier._counts[i];
        }

        return difference;
    }

    /// <summary>The latency in nanoseconds that this part of all did not exceed; 0 if there are none.</summary>
    /// <param name="part">From 0, for the shortest, to 1, for the longest.</param>
    public long At(double part)
    {
        long count = Count;
        long wanted = Math.Clamp((long)Math.Ceiling(part * count), 1, Math.Max(1, count));
        long seen = 0;
        for (int bin = 0; bin < Bins; bin++)
        {
            seen += _counts[bin];
            if (seen >= wanted)
            {
                return UpperEnd(bin);
            }
        }

        return 0;
    }

    public double Mean
    {
        get
        {
            double sum = 0;
            long count = 0;
            for (int bin = 0; bin < Bins; bin++)
            {
                sum += (double)_counts[bin] * (LowerEnd(bin) + UpperEnd(bin)) / 2;
                count += _counts[bin];
            }

            return count == 0 ? 0 : sum / count;
        }
    }

    /// <summary>The bins that are not empty: from one latency up to another, both in nanoseconds, and how often.</summary>
    public IEnumerable<(long From, long To, long Count)> Filled()
    {
        for (int bin = 0; bin < Bins; bin++)
        {
            if (_counts[bin] > 0)
            {
                yield return (LowerEnd(bin), UpperEnd(bin), _counts[bin]);
            }
        }
    }

    private static long LowerEnd(int bin)
    {
        int shift = ShiftOf(bin);
        return (long)(bin - (shift * Parts)) << shift;
    }

    // The longest that is counted in the bin.
    private static long UpperEnd(int bin)
    {
        int shift = ShiftOf(bin);
        return ((long)(bin - (shift * Parts) + 1) << shift) - 1;
    }

    private static int ShiftOf(int bin) => Math.Max(0, (bin / Parts) - 1);
}
