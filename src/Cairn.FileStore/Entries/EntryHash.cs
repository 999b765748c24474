// A hash of the UTF-16 code units of a key, with two multiplications for up to 8 units. Each process has its own seed, so that an attacker
// cannot choose keys that collide.
//
// Based on the mixing function of Wang Yi, "wyhash" (public domain): multiply to 128 bits and fold the halves.
namespace Cairn.FileStore.Entries;

internal static class EntryHash
{
    private const int StrideBytes = 16;

    private static readonly ulong Seed = (ulong)Random.Shared.NextInt64() | 1;
    private static readonly ulong SecondSeed = (ulong)Random.Shared.NextInt64() | 0x8000_0000_0000_0001;

    // The reads overlap unless they cover the key exactly. The length is mixed in, so it distinguishes keys whose reads are the same.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Of(string key)
    {
        ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(key.AsSpan());
        if (bytes.Length is >= sizeof(ulong) and <= 2 * StrideBytes)
        {
            ulong state = Seed;
            if (bytes.Length > StrideBytes)
            {
                state = Mix(Read(bytes) ^ Seed, Read(bytes[sizeof(ulong)..]) ^ SecondSeed);
                bytes = bytes[^StrideBytes..];
            }

            return Fold(Read(bytes) ^ state, Read(bytes[^sizeof(ulong)..]), (uint)key.Length);
        }

        return bytes.Length < sizeof(ulong) ? OfShort(bytes, key.Length) : OfLong(bytes, key.Length);
    }

    private static int OfShort(ReadOnlySpan<byte> bytes, int length)
    {
        ulong low = 0;
        foreach (char unit in MemoryMarshal.Cast<byte, char>(bytes))
        {
            low = (low << 16) | unit;
        }

        return Fold(low ^ Seed, 0, (uint)length);
    }

    private static int OfLong(ReadOnlySpan<byte> bytes, int length)
    {
        ulong state = Seed;
        for (ReadOnlySpan<byte> rest = bytes; rest.Length > StrideBytes; rest = rest[StrideBytes..])
        {
            state = Mix(Read(rest) ^ state, Read(rest[sizeof(ulong)..]) ^ SecondSeed);
        }

        ReadOnlySpan<byte> last = bytes[^StrideBytes..];
        return Fold(Read(last) ^ state, Read(last[sizeof(ulong)..]), (uint)length);
    }

    private static ulong Read(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadUInt64LittleEndian(bytes);

    private static int Fold(ulong low, ulong high, uint length)
    {
        ulong mixed = Mix(low, high ^ SecondSeed ^ length);
        return (int)(mixed ^ (mixed >> 32));
    }

    private static ulong Mix(ulong left, ulong right)
    {
        ulong high = Math.BigMul(left, right, out ulong low);
        return high ^ low;
    }
}
