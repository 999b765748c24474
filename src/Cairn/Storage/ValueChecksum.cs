using System.Numerics;
using System.Runtime.CompilerServices;

namespace Cairn.Storage;

// The part of an entry's checksum that covers its value: CRC-32C (Castagnoli) over 64-bit words, for which x64 and Arm64 have
// an instruction. It finds every error burst of up to 32 bits, and costs one instruction for eight bytes that are loaded
// anyway, so that every read can check what it copies.
//
// Up to 256 bytes in one chain; more in four that are joined at the end, because an instruction takes three cycles and one can
// begin in each. The last word overlaps the one before it. The result is written into files.
internal static unsafe class ValueChecksum
{
    private const int LongestSingleChain = 256;

    /// <summary>What else is done with the words while they are in registers.</summary>
    private interface ISink
    {
        void Take<TWord>(nint offset, TWord word)
            where TWord : unmanaged;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Compute(byte* value, int length, ulong seed) =>
        length <= LongestSingleChain
            ? Chain(value, 0, length, Start(length, seed), default(NoSink))
            : Long(value, length, seed, default(NoSink));

    /// <summary>Copies the value on the way: the checksum is that of the copy, whatever others do to the source.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint ComputeAndCopy(byte* source, byte* target, int length, ulong seed) =>
        length <= LongestSingleChain
            ? Chain(source, 0, length, Start(length, seed), new CopySink(target))
            : Long(source, length, seed, new CopySink(target));

    // Of the length, too: otherwise values of zero bytes would look alike.
    private static uint Start(int length, ulong seed) => (uint)seed ^ (uint)length;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Chain<TSink>(byte* value, nint at, nint length, uint sum, TSink sink)
        where TSink : struct, ISink
    {
        for (; length - at >= 32; at += 32)
        {
            sum = Word(value, at, sum, sink);
            sum = Word(value, at + 8, sum, sink);
            sum = Word(value, at + 16, sum, sink);
            sum = Word(value, at + 24, sum, sink);
        }

        for (; length - at >= 8; at += 8)
        {
            sum = Word(value, at, sum, sink);
        }

        if (at == length)
        {
            return sum;
        }

        if (length >= 8)
        {
            return Word(value, length - 8, sum, sink);
        }

        return Rest(value, length, sum, sink);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static uint Rest<TSink>(byte* value, nint length, uint sum, TSink sink)
        where TSink : struct, ISink
    {
        if (length >= 4)
        {
            uint low = Unsafe.ReadUnaligned<uint>(value);
            uint high = Unsafe.ReadUnaligned<uint>(value + length - 4);
            sink.Take(0, low);
            sink.Take(length - 4, high);
            return BitOperations.Crc32C(sum, ((ulong)high << 32) | low);
        }

        for (nint at = 0; at < length; at++)
        {
            byte one = value[at];
            sink.Take(at, one);
            sum = BitOperations.Crc32C(sum, one);
        }

        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static uint Long<TSink>(byte* value, int length, ulong seed, TSink sink)
        where TSink : struct, ISink
    {
        uint lane0 = Start(length, seed);
        uint lane1 = ~lane0;
        uint lane2 = BitOperations.RotateLeft(lane0, 11);
        uint lane3 = BitOperations.RotateLeft(lane1, 17);
        nint at = 0;
        for (; length - at >= 32; at += 32)
        {
            lane0 = Word(value, at, lane0, sink);
            lane1 = Word(value, at + 8, lane1, sink);
            lane2 = Word(value, at + 16, lane2, sink);
            lane3 = Word(value, at + 24, lane3, sink);
        }

        uint sum = BitOperations.Crc32C(lane0, lane1 | ((ulong)lane2 << 32));
        return Chain(value, at, length, BitOperations.Crc32C(sum, lane3), sink);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Word<TSink>(byte* value, nint at, uint sum, TSink sink)
        where TSink : struct, ISink
    {
        ulong word = Unsafe.ReadUnaligned<ulong>(value + at);
        sink.Take(at, word);
        return BitOperations.Crc32C(sum, word);
    }

    private readonly struct NoSink : ISink
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Take<TWord>(nint offset, TWord word)
            where TWord : unmanaged
        {
            // Only the checksum is wanted.
        }
    }

    private readonly struct CopySink(byte* target) : ISink
    {
        private readonly byte* _target = target;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Take<TWord>(nint offset, TWord word)
            where TWord : unmanaged => Unsafe.WriteUnaligned(_target + offset, word);
    }
}
