using System.Numerics;

namespace Cairn.HitRate.Policies;

// Estimates how often each key was requested recently. It is a count-min sketch of four rows, with counts up to 15. It halves all counts after ten
// times as many requests as the cache holds keys.
internal sealed class FrequencySketch
{
    private const int Rows = 4;
    private const byte MaxCount = 15;
    private const int SampleFactor = 10;

    private static readonly ulong[] _seeds = [0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xCBF29CE484222325];

    private readonly byte[][] _counts = new byte[Rows][];
    private readonly int _shift;
    private readonly long _sampleSize;
    private long _additions;

    public FrequencySketch(int capacity)
    {
        var width = BitOperations.RoundUpToPowerOf2((uint)Math.Max(capacity, 8) * 4);
        _shift = 64 - BitOperations.Log2(width);
        _sampleSize = (long)SampleFactor * capacity;
        for (var row = 0; row < Rows; row++)
        {
            _counts[row] = new byte[width];
        }
    }

    public int Estimate(int key)
    {
        var least = MaxCount;
        for (var row = 0; row < Rows; row++)
        {
            least = Math.Min(least, CountOf(row, key));
        }

        return least;
    }

    public void Increment(int key)
    {
        var hasGrown = false;
        for (var row = 0; row < Rows; row++)
        {
            ref var count = ref CountOf(row, key);
            if (count < MaxCount)
            {
                count++;
                hasGrown = true;
            }
        }

        if (hasGrown && ++_additions >= _sampleSize)
        {
            Halve();
        }
    }

    private ref byte CountOf(int row, int key) => ref _counts[row][Mix((ulong)key ^ _seeds[row]) >> _shift];

    // The finalizer of SplitMix64. A multiplication alone places consecutive keys at equal distances, so that a loop over consecutive keys has other
    // collisions than random keys have.
    private static ulong Mix(ulong bits)
    {
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
        return bits ^ (bits >> 31);
    }

    private void Halve()
    {
        foreach (var counts in _counts)
        {
            for (var i = 0; i < counts.Length; i++)
            {
                counts[i] >>= 1;
            }
        }

        _additions /= 2;
    }
}
