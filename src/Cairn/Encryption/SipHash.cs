namespace Cairn.Encryption;

/// <summary>
/// SipHash-2-4 with a result of 128 bits: a keyed hash. Without the key, an attacker cannot find two messages with the same result, and learns nothing
/// about a message from its result. Follows Aumasson and Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012, and its authors' extension to 128
/// bits.
/// </summary>
internal static class SipHash
{
    /// <summary>Hashes a message: eight bytes in <paramref name="first"/>, in little-endian order, and then the rest.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static (ulong Low, ulong High) Compute(ulong key0, ulong key1, ulong first, ReadOnlySpan<byte> rest)
    {
        ulong v0 = key0 ^ 0x736F_6D65_7073_6575;
        ulong v1 = key1 ^ 0x646F_7261_6E64_6F6D ^ 0xEE;
        ulong v2 = key0 ^ 0x6C79_6765_6E65_7261;
        ulong v3 = key1 ^ 0x7465_6462_7974_6573;
        Absorb(first, ref v0, ref v1, ref v2, ref v3);
        int length = sizeof(ulong) + rest.Length;
        for (; rest.Length >= sizeof(ulong); rest = rest[sizeof(ulong)..])
        {
            Absorb(MemoryMarshal.Read<ulong>(rest), ref v0, ref v1, ref v2, ref v3);
        }

        Absorb(Tail(rest) | ((ulong)length << 56), ref v0, ref v1, ref v2, ref v3);
        v2 ^= 0xEE;
        Finish(ref v0, ref v1, ref v2, ref v3);
        ulong low = v0 ^ v1 ^ v2 ^ v3;
        v1 ^= 0xDD;
        Finish(ref v0, ref v1, ref v2, ref v3);
        return (low, v0 ^ v1 ^ v2 ^ v3);
    }

    // Returns up to seven bytes, little-endian.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Tail(ReadOnlySpan<byte> bytes)
    {
        ulong tail = 0;
        int at = 0;
        if ((bytes.Length & 4) != 0)
        {
            tail = MemoryMarshal.Read<uint>(bytes);
            at = 4;
        }

        if ((bytes.Length & 2) != 0)
        {
            tail |= (ulong)MemoryMarshal.Read<ushort>(bytes[at..]) << (at * 8);
            at += 2;
        }

        return (bytes.Length & 1) != 0 ? tail | ((ulong)bytes[at] << (at * 8)) : tail;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Absorb(ulong word, ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3)
    {
        v3 ^= word;
        Round(ref v0, ref v1, ref v2, ref v3);
        Round(ref v0, ref v1, ref v2, ref v3);
        v0 ^= word;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Finish(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3)
    {
        Round(ref v0, ref v1, ref v2, ref v3);
        Round(ref v0, ref v1, ref v2, ref v3);
        Round(ref v0, ref v1, ref v2, ref v3);
        Round(ref v0, ref v1, ref v2, ref v3);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Round(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3)
    {
        v0 += v1;
        v2 += v3;
        v1 = BitOperations.RotateLeft(v1, 13) ^ v0;
        v3 = BitOperations.RotateLeft(v3, 16) ^ v2;
        v0 = BitOperations.RotateLeft(v0, 32);
        v2 += v1;
        v0 += v3;
        v1 = BitOperations.RotateLeft(v1, 17) ^ v2;
        v3 = BitOperations.RotateLeft(v3, 21) ^ v0;
        v2 = BitOperations.RotateLeft(v2, 32);
    }
}
