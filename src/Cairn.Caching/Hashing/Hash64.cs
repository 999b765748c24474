using System.Runtime.InteropServices;
using Cairn.Indexing;

namespace Cairn.Caching.Hashing;

// The store's 64-bit hash for spans: checksums of envelopes and numbers of types. Seeds are constants, so that every process
// computes the same; it guards against accidents, not against somebody who wants to deceive.
//
// Words are read in the machine's byte order. Machines of both orders do not share values: to each the other's are damaged.
internal static unsafe class Hash64
{
    public static ulong Of(ReadOnlySpan<byte> bytes, ulong seed)
    {
        // Bound: KeyHash reads no byte beyond the length.
        fixed (byte* start = bytes)
        {
            return KeyHash.Compute(start, bytes.Length, seed);
        }
    }

    /// <summary>The hash of the text's UTF-16 code units, whether they are valid text or not.</summary>
    public static ulong Of(ReadOnlySpan<char> text, ulong seed) => Of(MemoryMarshal.AsBytes(text), seed);

    /// <summary>A seed that depends on both.</summary>
    public static ulong Combine(ulong seed, ulong other) => KeyHash.Derive(seed, other);
}
