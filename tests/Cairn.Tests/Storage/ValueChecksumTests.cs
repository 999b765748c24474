using Cairn.Storage;

namespace Cairn.Tests.Storage;

public sealed unsafe class ValueChecksumTests
{
    private static readonly int[] Lengths = [.. Enumerable.Range(0, 300), 511, 512, 513, 4096, 65_537];

    private delegate uint Copying(byte* source, byte* target, int length, ulong seed);

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public void Copying_gives_the_same_sum_and_the_same_bytes_and_no_more(bool isIn, bool isFixed)
    {
        Copying copy = (isIn, isFixed) switch
        {
            (false, false) => ValueChecksum.ComputeAndCopy,
            (true, false) => ValueChecksum.ComputeAndCopyIn,
            (false, true) => ValueChecksum.ComputeAndCopyFixed,
            (true, true) => ValueChecksum.ComputeAndCopyInFixed,
        };
        foreach (int length in Lengths)
        {
            byte[] source = TestBytes.Of(length + 1, seed: 5);
            byte[] target = new byte[length + 1];
            target[length] = 0xEE;
            fixed (byte* from = source)
            fixed (byte* to = target)
            {
                Assert.Equal(ValueChecksum.Compute(from, length, 9), copy(from, to, length, 9));
            }

            Assert.Equal(source.AsSpan(0, length), target.AsSpan(0, length));
            Assert.Equal(0xEE, target[length]);
        }
    }

    [Theory]
    [InlineData(200)]
    [InlineData(20_000)]
    public void Sum_of_what_is_copied_in_is_that_of_the_source_whatever_is_written_over_the_copy(int length)
    {
        byte[] source = TestBytes.Of(length);
        byte[] target = new byte[length];

        WhileSomebodyScribbles(target, () =>
        {
            fixed (byte* from = source)
            fixed (byte* to = target)
            {
                Assert.Equal(ValueChecksum.Compute(from, length, 9), ValueChecksum.ComputeAndCopyIn(from, to, length, 9));
            }
        });
    }

    [Theory]
    [InlineData(200)]
    [InlineData(20_000)]
    public void Sum_of_what_is_copied_out_is_that_of_the_copy_whatever_is_written_over_the_source(int length)
    {
        byte[] source = TestBytes.Of(length);
        byte[] target = new byte[length];

        WhileSomebodyScribbles(source, () =>
        {
            fixed (byte* from = source)
            fixed (byte* to = target)
            {
                uint sum = ValueChecksum.ComputeAndCopy(from, to, length, 9);
                Assert.Equal(ValueChecksum.Compute(to, length, 9), sum);
            }
        });
    }

    [Fact]
    public void Every_flipped_bit_changes_the_sum()
    {
        foreach (int length in new[] { 1, 3, 4, 7, 8, 15, 31, 32, 100, 256, 257, 300 })
        {
            byte[] value = TestBytes.Of(length, seed: 6);
            fixed (byte* bytes = value)
            {
                uint sum = ValueChecksum.Compute(bytes, length, 1);
                for (int bit = 0; bit < length * 8; bit++)
                {
                    value[bit / 8] ^= (byte)(1 << (bit % 8));
                    Assert.NotEqual(sum, ValueChecksum.Compute(bytes, length, 1));
                    value[bit / 8] ^= (byte)(1 << (bit % 8));
                }
            }
        }
    }

    [Fact]
    public void Values_of_zero_bytes_of_different_lengths_have_different_sums()
    {
        var sums = new HashSet<uint>();
        byte[] zeros = new byte[1024];
        fixed (byte* bytes = zeros)
        {
            for (int length = 0; length <= 1024; length++)
            {
                Assert.True(sums.Add(ValueChecksum.Compute(bytes, length, 1)), $"length {length}");
            }
        }
    }

    private static void WhileSomebodyScribbles(byte[] bytes, Action action)
    {
        bool isOver = false;
        var scribbler = new Thread(() =>
        {
            for (uint i = 0; !Volatile.Read(ref isOver); i++)
            {
                bytes[i * 2_654_435_761 % (uint)bytes.Length]++;
            }
        });
        scribbler.Start();
        try
        {
            for (int i = 0; i < 2_000; i++)
            {
                action();
            }
        }
        finally
        {
            Volatile.Write(ref isOver, true);
            scribbler.Join();
        }
    }
}
