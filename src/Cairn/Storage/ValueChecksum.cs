using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Cairn.Storage;

// The part of an entry's checksum that covers its value: CRC-32C (Castagnoli) over 64-bit words. x64 and Arm64 have an instruction for it. It detects every
// error burst of up to 32 bits. It costs one instruction per eight bytes, which are loaded anyway, so every read can check its copy.
//
// Up to 256 bytes are summed in one chain. Longer values are summed in four chains that are joined at the end, because an instruction takes three cycles
// and one can begin in each. The last word overlaps the one before it. The result is written into files.
internal static unsafe class ValueChecksum
{
    private const int LongestSingleChain = 256;

    // A block is copied, and then summed while it is still in the first-level cache. The size is a multiple of the 32 bytes of a step.
    private const int BlockBytes = 8 * 1024;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Compute(byte* value, int length, ulong seed) =>
        length <= LongestSingleChain ? (uint)Chain(value, 0, length, Start(length, seed)) : Long(value, null, value, length, seed);

    /// <summary>
    /// Copies a value out of the file and computes the checksum of the copy. So the checksum is right even if another process changes the source.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint ComputeAndCopy(byte* source, byte* target, int length, ulong seed)
    {
        if (length > LongestSingleChain)
        {
            return Long(source, target, target, length, seed);
        }

        // The value is copied in large pieces and then summed in its new place. That takes half the instructions of copying and summing word by word.
        Copy(source, target, length);
        return (uint)Chain(target, 0, length, Start(length, seed));
    }

    /// <summary>
    /// Copies a value into the file and computes the checksum of the source. A checksum of the copy would cover bytes that another process has possibly
    /// overwritten.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint ComputeAndCopyIn(byte* source, byte* target, int length, ulong seed)
    {
        if (length > LongestSingleChain)
        {
            return Long(source, target, source, length, seed);
        }

        Copy(source, target, length);
        return (uint)Chain(source, 0, length, Start(length, seed));
    }

    /// <summary>
    /// Does the same as <see cref="ComputeAndCopy"/> for a length that the compiler knows. For the length of a number it costs an instruction or two.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint ComputeAndCopyFixed(byte* source, byte* target, int length, ulong seed) =>
        IsNumberLength(length) ? Number(source, target, length, seed) : ComputeAndCopy(source, target, length, seed);

    /// <summary>Does the same as <see cref="ComputeAndCopyIn"/> for a length that the compiler knows.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint ComputeAndCopyInFixed(byte* source, byte* target, int length, ulong seed) =>
        IsNumberLength(length) ? Number(source, target, length, seed) : ComputeAndCopyIn(source, target, length, seed);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool IsNumberLength(int length) => length is sizeof(uint) or sizeof(ulong) or 2 * sizeof(ulong);

    // The number passes through registers. So the copied and the summed bytes are the same, even if another process changes source or target.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Number(byte* source, byte* target, int length, ulong seed)
    {
        if (length == sizeof(uint))
        {
            uint value = Unsafe.ReadUnaligned<uint>(source);
            Unsafe.WriteUnaligned(target, value);
            return (uint)Step(Start(length, seed), ((ulong)value << 32) | value);
        }

        ulong first = Unsafe.ReadUnaligned<ulong>(source);
        Unsafe.WriteUnaligned(target, first);
        ulong sum = Step(Start(length, seed), first);
        if (length == sizeof(ulong))
        {
            return (uint)sum;
        }

        ulong last = Unsafe.ReadUnaligned<ulong>(source + sizeof(ulong));
        Unsafe.WriteUnaligned(target + sizeof(ulong), last);
        return (uint)Step(sum, last);
    }

    // The copy is inlined. The framework's copy is a call, and saving and restoring registers costs more than the copy of a short value.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Copy(byte* source, byte* target, nint length)
    {
        if (length < Vector256<byte>.Count)
        {
            ShortBytes.Copy(source, target, (int)length);
            return;
        }

        // The last piece overlaps the one before it.
        nint last = length - Vector256<byte>.Count;
        for (nint at = 0; at < last; at += Vector256<byte>.Count)
        {
            Vector256.Load(source + at).Store(target + at);
        }

        Vector256.Load(source + last).Store(target + last);
    }

    // The length is a part of the seed. Otherwise values of zero bytes with different lengths would have the same checksum.
    private static uint Start(int length, ulong seed) => (uint)seed ^ (uint)length;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Chain(byte* value, nint at, nint length, ulong sum)
    {
        for (; length - at >= 32; at += 32)
        {
            sum = Step(sum, value + at);
            sum = Step(sum, value + at + 8);
            sum = Step(sum, value + at + 16);
            sum = Step(sum, value + at + 24);
        }

        for (; length - at >= 8; at += 8)
        {
            sum = Step(sum, value + at);
        }

        if (at == length)
        {
            return sum;
        }

        return length >= 8 ? Step(sum, value + length - 8)
            : length >= 4 ? Step(sum, ((ulong)Unsafe.ReadUnaligned<uint>(value + length - 4) << 32) | Unsafe.ReadUnaligned<uint>(value))
            : Rest(value, length, (uint)sum);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static uint Rest(byte* value, nint length, uint sum)
    {
        for (nint at = 0; at < length; at++)
        {
            sum = BitOperations.Crc32C(sum, value[at]);
        }

        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static uint Long(byte* source, byte* target, byte* summed, int length, ulong seed)
    {
        uint start = Start(length, seed);
        ulong lane0 = start;
        ulong lane1 = ~start;
        ulong lane2 = BitOperations.RotateLeft(start, 11);
        ulong lane3 = BitOperations.RotateLeft(~start, 17);
        nint at = 0;
        while (at < length)
        {
            nint end = Math.Min(at + BlockBytes, length);
            if (target != null)
            {
                Unsafe.CopyBlockUnaligned(target + at, source + at, (uint)(end - at));
            }

            for (; end - at >= 32; at += 32)
            {
                lane0 = Step(lane0, summed + at);
                lane1 = Step(lane1, summed + at + 8);
                lane2 = Step(lane2, summed + at + 16);
                lane3 = Step(lane3, summed + at + 24);
            }

            if (end == length)
            {
                break;
            }
        }

        uint sum = BitOperations.Crc32C((uint)lane0, lane1 | (lane2 << 32));
        return (uint)Chain(summed, at, length, BitOperations.Crc32C(sum, (uint)lane3));
    }

    // The framework's own method takes and returns 32 bits, which costs one more instruction for each word.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Step(ulong sum, ulong word) =>
        Sse42.X64.IsSupported ? Sse42.X64.Crc32(sum, word) : BitOperations.Crc32C((uint)sum, word);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Step(ulong sum, byte* word) => Step(sum, Unsafe.ReadUnaligned<ulong>(word));
}
