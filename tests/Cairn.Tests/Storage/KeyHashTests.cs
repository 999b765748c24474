using System.Numerics;
using Cairn.Storage;

namespace Cairn.Tests.Storage;

/// <summary>The hash of keys and values. Files depend on its results.</summary>
public sealed unsafe class KeyHashTests
{
    [Theory]
    [InlineData(0, 4752173733674486290UL)]
    [InlineData(1, 9308704604251630138UL)]
    [InlineData(3, 17203656630615994214UL)]
    [InlineData(4, 8683215008412759934UL)]
    [InlineData(8, 2631973461611604112UL)]
    [InlineData(16, 10748449897500174767UL)]
    [InlineData(17, 14749204784632134426UL)]
    [InlineData(64, 720193808396116204UL)]
    [InlineData(65, 8783198205423766298UL)]
    [InlineData(1000, 12609790841571692376UL)]
    public void Hash_of_given_bytes_never_changes(int length, ulong expected)
    {
        byte[] data = [.. Enumerable.Range(0, length).Select(i => (byte)((i * 7) + 1))];

        Assert.Equal(expected, Hash(data, seed: 42));
    }

    [Fact]
    public void Every_bit_of_the_input_and_of_the_seed_changes_about_half_the_result()
    {
        foreach (int length in (int[])[1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 32, 64, 65, 128, 129, 200])
        {
            byte[] data = TestBytes.Of(length);
            ulong before = Hash(data, 1);
            long flipped = 0;
            for (int bit = 0; bit < length * 8; bit++)
            {
                data[bit / 8] ^= (byte)(1 << (bit % 8));
                int changed = BitOperations.PopCount(before ^ Hash(data, 1));
                Assert.True(changed > 8, $"bit {bit} of {length} bytes changes {changed} bits");
                flipped += changed;
                data[bit / 8] ^= (byte)(1 << (bit % 8));
            }

            Assert.InRange(flipped / (double)(length * 8), 28, 36);
            Assert.InRange(BitOperations.PopCount(before ^ Hash(data, 2)), 9, 55);
        }
    }

    [Fact]
    public void Inputs_that_differ_in_length_only_differ()
    {
        var zeros = new byte[2000];
        var hashes = new HashSet<ulong>();
        for (int length = 0; length <= zeros.Length; length++)
        {
            Assert.True(hashes.Add(Hash(zeros[..length], 9)), $"{length} zeros");
        }
    }

    [Fact]
    public void Short_keys_hardly_ever_collide()
    {
        var hashes = new HashSet<ulong>();
        for (int i = 0; i < 200_000; i++)
        {
            Assert.True(hashes.Add(Hash(BitConverter.GetBytes(i), 3)));
        }
    }

    [Fact]
    public void Bytes_beyond_the_length_are_not_used()
    {
        byte[] data = TestBytes.Of(300);
        for (int length = 0; length < 280; length++)
        {
            byte[] other = (byte[])data.Clone();
            other.AsSpan(length).Fill(0xEE);

            Assert.Equal(HashPart(data, length), HashPart(other, length));
        }
    }

    [Fact]
    public void Derived_seeds_differ()
    {
        var seeds = new HashSet<ulong>();
        for (ulong purpose = 0; purpose < 1000; purpose++)
        {
            Assert.True(seeds.Add(KeyHash.Derive(77, purpose)));
        }
    }

    [Theory]
    [InlineData(1, 2)]
    [InlineData(2, 2)]
    [InlineData(16, 100)]
    [InlineData(64, 12345)]
    public void Placement_uses_partitions_and_buckets_evenly_and_two_different_buckets(int partitions, int buckets)
    {
        const int Keys = 100_000;
        var perPartition = new int[partitions];
        var perBucket = new int[buckets];
        for (int i = 0; i < Keys; i++)
        {
            ulong hash = Hash(BitConverter.GetBytes(i), 5);
            var place = new KeyPlacement(hash, KeyPlacement.PartitionShift(partitions), buckets);
            perPartition[place.Partition]++;
            perBucket[place.Primary]++;
            Assert.InRange(place.Alternate, 0, buckets - 1);
            Assert.NotEqual(place.Primary, place.Alternate);
            Assert.NotEqual(0, place.Tag);
        }

        Assert.All(perPartition, count => Assert.InRange(count, Keys / partitions * 0.8, Keys / partitions * 1.2));
        double mean = Keys / (double)buckets;
        Assert.All(perBucket, count => Assert.InRange(count, mean - (6 * Math.Sqrt(mean)), mean + (6 * Math.Sqrt(mean))));
    }

    [Fact]
    public void Tag_is_never_zero()
    {
        Assert.Equal(1, KeyPlacement.TagOf(0));
        Assert.Equal(1, KeyPlacement.TagOf(0xFFFF_0000));
        Assert.Equal(0xFFFF, KeyPlacement.TagOf(ulong.MaxValue));
    }

    private static ulong Hash(byte[] data, ulong seed)
    {
        fixed (byte* bytes = data)
        {
            return KeyHash.Compute(bytes, data.Length, seed);
        }
    }

    private static ulong HashPart(byte[] data, int length)
    {
        fixed (byte* bytes = data)
        {
            return KeyHash.Compute(bytes, length, 11);
        }
    }
}
