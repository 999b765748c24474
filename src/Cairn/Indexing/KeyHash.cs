using System.Runtime.CompilerServices;

namespace Cairn.Indexing;

// The hash of keys and of values: a 64-bit, seeded, non-cryptographic hash built from folded multiplication, that is,
// the exclusive or of the two halves of a 64 x 64 -> 128 bit product. The construction is that of wyhash (Wang Yi, "wyhash:
// a fast 64-bit hash function", public domain), which passes the usual statistical test suites; keys of up to 16 bytes
// cost two multiplications.
//
// Every store draws its own seed, so that a client who chooses keys cannot choose their buckets. The result is written
// into files, so changing it means a new format version.
internal static unsafe class KeyHash
{
    private const ulong K0 = 0x9E37_79B9_7F4A_7C15; // 2^64 / golden ratio
    private const ulong K1 = 0xC2B2_AE3D_27D4_EB4F;
    private const ulong K2 = 0x1656_67B1_9E37_79F9;
    private const ulong K3 = 0xD6E8_FEB8_6659_FD93;

    /// <summary>Hashes <paramref name="length"/> bytes at <paramref name="data"/>; it reads no byte beyond them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Compute(byte* data, int length, ulong seed)
    {
        ulong first;
        ulong second;
        ulong state = seed ^ K0;
        if (length > 16)
        {
            if (length > 64)
            {
                state = Absorb(ref data, ref length, state);
            }

            byte* end = data + length;
            for (; length > 16; length -= 16, data += 16)
            {
                state = Fold(Read64(data) ^ K1, Read64(data + 8) ^ state);
            }

            // The last 16 bytes, overlapping the block before them.
            first = Read64(end - 16);
            second = Read64(end - 8);
        }
        else if (length >= 8)
        {
            first = Read64(data);
            second = Read64(data + length - 8);
        }
        else if (length >= 4)
        {
            first = Read32(data);
            second = Read32(data + length - 4);
        }
        else if (length > 0)
        {
            first = ((ulong)data[0] << 16) | ((ulong)data[length >> 1] << 8) | data[length - 1];
            second = 0;
        }
        else
        {
            first = 0;
            second = 0;
        }

        return Fold(Fold(first ^ K1, second ^ state) ^ K2, (uint)length ^ K3);
    }

    /// <summary>The exclusive or of the halves of the product.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Fold(ulong left, ulong right)
    {
        ulong high = Math.BigMul(left, right, out ulong low);
        return high ^ low;
    }

    /// <summary>Derives an unrelated seed, for a collection or a purpose.</summary>
    public static ulong Derive(ulong seed, ulong purpose) => Fold(seed ^ K2, purpose ^ K3) ^ seed;

    // Long inputs, 64 bytes a step in four independent lanes, so that the multiplier is busy every cycle.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ulong Absorb(ref byte* data, ref int length, ulong state)
    {
        // The remaining length alone would make inputs that differ by whole steps finish alike.
        state ^= (ulong)length * K2;
        ulong lane1 = state ^ K1;
        ulong lane2 = state ^ K2;
        ulong lane3 = state ^ K3;
        byte* at = data;
        int left = length;
        for (; left > 64; left -= 64, at += 64)
        {
            state = Fold(Read64(at) ^ K1, Read64(at + 8) ^ state);
            lane1 = Fold(Read64(at + 16) ^ K2, Read64(at + 24) ^ lane1);
            lane2 = Fold(Read64(at + 32) ^ K3, Read64(at + 40) ^ lane2);
            lane3 = Fold(Read64(at + 48) ^ K0, Read64(at + 56) ^ lane3);
        }

        data = at;
        length = left;
        return state ^ lane1 ^ lane2 ^ lane3;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Read64(byte* at) => Unsafe.ReadUnaligned<ulong>(at);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Read32(byte* at) => Unsafe.ReadUnaligned<uint>(at);
}
