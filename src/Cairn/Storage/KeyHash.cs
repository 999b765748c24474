using System.Runtime.Intrinsics.Arm;
using System.Runtime.Intrinsics.X86;

namespace Cairn.Storage;

// The hash of keys: 64 bits, seeded, not cryptographic. It is built from folded multiplication, which is the exclusive or of the two halves of a 64 x 64 ->
// 128 bit product. The construction is that of wyhash (Wang Yi, "wyhash: a fast 64-bit hash function", public domain), which passes the usual statistical
// test suites. Keys of up to 16 bytes cost two multiplications.
//
// Every store has a random seed, so that a client that chooses its keys cannot choose their buckets. The result is written into files, so a change of the
// hash needs a new format version.
//
// All values stay in registers. No local has its address taken. The halves of the product are computed separately, because the framework's 128-bit product
// passes its low half through memory.
internal static unsafe class KeyHash
{
    private const ulong K0 = 0x9E37_79B9_7F4A_7C15; // 2^64 / golden ratio
    private const ulong K1 = 0xC2B2_AE3D_27D4_EB4F;
    private const ulong K2 = 0x1656_67B1_9E37_79F9;
    private const ulong K3 = 0xD6E8_FEB8_6659_FD93;

    /// <summary>Hashes <paramref name="length"/> bytes at <paramref name="data"/>; it reads no byte beyond them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Compute(byte* data, int length, ulong seed) =>
        length <= 32 ? Short(data, length, seed) : Long(data, length, seed);

    /// <summary>Hashes 16 to 32 bytes, of which the first 16 and the last 16 are given.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Compute16To32(ulong first, ulong second, ulong nextToLast, ulong last, int length, ulong seed)
    {
        ulong state = seed ^ K0;
        if (length > 16)
        {
            state = Fold(first ^ K1, second ^ state);
        }

        return Finish(nextToLast, last, length, state);
    }

    /// <summary>Hashes up to 16 bytes, of which the two halves are given as <see cref="Last"/> reads them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong ComputeUpTo16(ulong first, ulong second, int length, ulong seed) => Finish(first, second, length, seed ^ K0);

    /// <summary>Returns the half for a key of one to three bytes, in which bytes may repeat: its first byte, its middle and its last.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Pack(uint begin, uint middle, uint end) => ((ulong)begin << 16) | ((ulong)middle << 8) | end;

    /// <summary>Returns the exclusive or of the two halves of the product.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Fold(ulong left, ulong right)
    {
        if (Bmi2.X64.IsSupported)
        {
            return Bmi2.X64.MultiplyNoFlags(left, right) ^ (left * right);
        }

        if (ArmBase.Arm64.IsSupported)
        {
            return ArmBase.Arm64.MultiplyHigh(left, right) ^ (left * right);
        }

        ulong high = Math.BigMul(left, right, out ulong low);
        return high ^ low;
    }

    /// <summary>Derives an independent seed for a collection or a purpose.</summary>
    public static ulong Derive(ulong seed, ulong purpose) => Fold(seed ^ K2, purpose ^ K3) ^ seed;

    /// <summary>Returns the seed of a store's key hashes. It is derived from the seed in the superblock.</summary>
    public static ulong KeySeedOf(ulong hashSeed) => Derive(hashSeed, 1);

    /// <summary>Returns the seed of a store's checksums.</summary>
    public static ulong ChecksumSeedOf(ulong hashSeed) => Derive(hashSeed, 2);

    /// <summary>Hashes a key. Equal keys of different collections have independent hashes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong OfKey(byte* key, int length, uint collection, ulong keySeed) =>
        Compute(key, length, SeedOf(collection, keySeed));

    /// <summary>Returns the seed of a collection's keys.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong SeedOf(uint collection, ulong keySeed) =>
        collection == 0 ? keySeed : Derive(keySeed, 16 + (ulong)collection);

    // Up to 32 bytes, which is the length of most keys. There is no loop.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Short(byte* data, int length, ulong seed)
    {
        ulong state = seed ^ K0;
        if (length > 16)
        {
            state = Mix(data, 0, K1, state);
        }

        return Last(data, length, state);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ulong Long(byte* data, int length, ulong seed)
    {
        ulong state = seed ^ K0;
        nint at = 0;
        if (length > 64)
        {
            // Each step takes 64 bytes in four independent lanes, so that the multiplier is busy in every cycle.
            ulong lane1 = state ^ K1;
            ulong lane2 = state ^ K2;
            ulong lane3 = state ^ K3;
            do
            {
                state = Mix(data, at, K1, state);
                lane1 = Mix(data, at + 16, K2, lane1);
                lane2 = Mix(data, at + 32, K3, lane2);
                lane3 = Mix(data, at + 48, K0, lane3);
                at += 64;
            }
            while (length - at > 64);

            state ^= lane1 ^ lane2 ^ lane3;
        }

        for (; length - at > 16; at += 16)
        {
            state = Mix(data, at, K1, state);
        }

        return Last(data, length, state);
    }

    // Hashes the last 16 bytes, which overlap the bytes before them. If there are no more than 16 bytes, hashes all.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Last(byte* data, nint length, ulong state)
    {
        ulong first;
        ulong second;
        if (length >= 8)
        {
            first = Unsafe.ReadUnaligned<ulong>(length >= 16 ? data + length - 16 : data);
            second = Unsafe.ReadUnaligned<ulong>(data + length - 8);
        }
        else if (length >= 4)
        {
            first = Unsafe.ReadUnaligned<uint>(data);
            second = Unsafe.ReadUnaligned<uint>(data + length - 4);
        }
        else if (length > 0)
        {
            first = Pack(data[0], data[length >> 1], data[length - 1]);
            second = 0;
        }
        else
        {
            first = 0;
            second = 0;
        }

        return Finish(first, second, length, state);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Finish(ulong first, ulong second, nint length, ulong state) =>
        Fold(Fold(first ^ K1, second ^ state) ^ K2, (uint)length ^ K3);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Mix(byte* data, nint at, ulong constant, ulong state)
    {
        ulong first = Unsafe.ReadUnaligned<ulong>(data + at);
        ulong second = Unsafe.ReadUnaligned<ulong>(data + at + 8);
        return Fold(first ^ constant, second ^ state);
    }
}
