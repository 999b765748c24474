using Cairn.Storage;

namespace Cairn.Caching.Hashing;

// The store's 64-bit hash for spans: checksums of envelopes and numbers of types. Seeds are constants, so that every process computes the
// same value. The hash detects accidental damage, not deliberate changes.
//
// Words are read in the machine's byte order. Machines of different byte orders do not share values: each sees the other's as damaged.
internal static unsafe class Hash64
{
    public static ulong Of(ReadOnlySpan<byte> bytes, ulong seed)
    {
        // Safe: KeyHash reads no byte beyond the length.
        fixed (byte* start = bytes)
        {
            return KeyHash.Compute(start, bytes.Length, seed);
        }
    }

    /// <summary>Returns the hash of the text's UTF-16 code units, whether or not they are valid text.</summary>
    public static ulong Of(ReadOnlySpan<char> text, ulong seed) => Of(MemoryMarshal.AsBytes(text), seed);

    /// <summary>Returns a seed that depends on both arguments.</summary>
    public static ulong Combine(ulong seed, ulong other) => KeyHash.Derive(seed, other);
}
