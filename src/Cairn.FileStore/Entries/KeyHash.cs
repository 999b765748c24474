// A hash of a key's UTF-16 code units, two multiplications for up to 8 of them. Each process has its own seed, so that keys
// that come from outside cannot be chosen to collide.
//
// After the mixing function of Wang Yi, "wyhash" (public domain): multiply to 128 bits and fold the halves.
using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Cairn.FileStore.Entries;

internal static class KeyHash
{
    private const int StrideBytes = 16;

    private static readonly ulong Seed = (ulong)Random.Shared.NextInt64() | 1;
    private static readonly ulong SecondSeed = (ulong)Random.Shared.NextInt64() | 0x8000_0000_0000_0001;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Of(string key)
    {
        ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(key.AsSpan());
        ulong low;
        ulong high;
        if (bytes.Length > StrideBytes)
        {
            return OfLong(bytes);
        }

        // The two halves overlap unless the key fills them, and its length tells such keys apart.
        if (bytes.Length >= sizeof(ulong))
        {
            low = BinaryPrimitives.ReadUInt64LittleEndian(bytes);
            high = BinaryPrimitives.ReadUInt64LittleEndian(bytes[^sizeof(ulong)..]);
        }
        else if (bytes.Length >= sizeof(uint))
        {
            low = BinaryPrimitives.ReadUInt32LittleEndian(bytes);
            high = BinaryPrimitives.ReadUInt32LittleEndian(bytes[^sizeof(uint)..]);
        }
        else
        {
            low = bytes.Length == 0 ? 0u : BinaryPrimitives.ReadUInt16LittleEndian(bytes);
            high = 0;
        }

        return Fold(low, high, (uint)bytes.Length);
    }

    private static int OfLong(ReadOnlySpan<byte> bytes)
    {
        ulong state = Seed;
        ReadOnlySpan<byte> rest = bytes;
        for (; rest.Length > StrideBytes; rest = rest[StrideBytes..])
        {
            state = Mix(
                BinaryPrimitives.ReadUInt64LittleEndian(rest) ^ state,
                BinaryPrimitives.ReadUInt64LittleEndian(rest[sizeof(ulong)..]) ^ SecondSeed);
        }

        ReadOnlySpan<byte> last = bytes[^StrideBytes..];
        return Fold(
            BinaryPrimitives.ReadUInt64LittleEndian(last) ^ state,
            BinaryPrimitives.ReadUInt64LittleEndian(last[sizeof(ulong)..]),
            (uint)bytes.Length);
    }

    private static int Fold(ulong low, ulong high, uint length)
    {
        ulong mixed = Mix(low ^ Seed, high ^ SecondSeed ^ length);
        return (int)(mixed ^ (mixed >> 32));
    }

    private static ulong Mix(ulong left, ulong right)
    {
        ulong high = Math.BigMul(left, right, out ulong low);
        return high ^ low;
    }
}
