using System.Runtime.Intrinsics;

namespace Cairn.Keys;

/// <summary>A key of 16 to 32 ASCII characters, narrowed to bytes that stay in registers.</summary>
/// <remarks>
/// If bytes are written to memory in one size and read back in another, the processor waits until the writes are complete. It then also
/// waits for the cache misses of the read before. With the key in memory, hashing and comparing would cost 130 ns more instead of 5 ns.
/// </remarks>
internal readonly unsafe struct AsciiKey : IPlainKey
{
    /// <summary>The length of the longest key of this form.</summary>
    public const int MaxLength = 32;

    private const int MinLength = 16;

    private readonly Vector128<byte> _first;
    private readonly Vector128<byte> _last;

    private AsciiKey(Vector128<byte> first, Vector128<byte> last, int length)
    {
        _first = first;
        _last = last;
        Length = length;
    }

    public int Length { get; }

    /// <summary>Narrows text. Returns false if the text has another length or characters that are not ASCII.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryCreate(ReadOnlySpan<char> text, out AsciiKey key)
    {
        nuint length = (nuint)text.Length;
        if (length - MinLength > MaxLength - MinLength)
        {
            key = default;
            return false;
        }

        // The first sixteen characters and the last sixteen, which can overlap.
        ref ushort source = ref Unsafe.As<char, ushort>(ref MemoryMarshal.GetReference(text));
        Vector128<ushort> a = Vector128.LoadUnsafe(ref source);
        Vector128<ushort> b = Vector128.LoadUnsafe(ref source, 8);
        Vector128<ushort> c = Vector128.LoadUnsafe(ref source, length - 16);
        Vector128<ushort> d = Vector128.LoadUnsafe(ref source, length - 8);
        key = new AsciiKey(Vector128.Narrow(a, b), Vector128.Narrow(c, d), (int)length);
        return ((a | b | c | d) & Vector128.Create((ushort)0xFF80)) == Vector128<ushort>.Zero;
    }

    /// <summary>Returns the same hash as that of the bytes in memory.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong Hash(ulong seed) => KeyHash.Compute16To32(
        _first.AsUInt64().GetElement(0), _first.AsUInt64().GetElement(1),
        _last.AsUInt64().GetElement(0), _last.AsUInt64().GetElement(1), Length, seed);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool EqualsStored(byte* stored) =>
        ((Vector128.Load(stored) ^ _first) | (Vector128.Load(stored + Length - 16) ^ _last)) == Vector128<byte>.Zero;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Store(byte* target)
    {
        _first.Store(target);
        _last.Store(target + Length - 16);
    }
}
