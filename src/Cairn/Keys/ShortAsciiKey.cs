using System.Runtime.Intrinsics;

namespace Cairn.Keys;

/// <summary>A key of 1 to 15 ASCII characters, narrowed to bytes that stay in registers, for the reason that <see cref="AsciiKey"/> has.</summary>
internal readonly unsafe struct ShortAsciiKey : IPlainKey
{
    private const int MaxLength = 15;

    // The two halves that KeyHash hashes. They overlap if the key has fewer bytes than they have together.
    private readonly ulong _first;
    private readonly ulong _last;

    private ShortAsciiKey(ulong first, ulong last, int length)
    {
        _first = first;
        _last = last;
        Length = length;
    }

    public int Length { get; }

    /// <summary>Narrows text. Returns false if the text is empty or longer, or has characters that are not ASCII.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryCreate(ReadOnlySpan<char> text, out ShortAsciiKey key)
    {
        nuint length = (nuint)text.Length;
        if (length - 1 >= MaxLength)
        {
            key = default;
            return false;
        }

        ref ushort source = ref Unsafe.As<char, ushort>(ref MemoryMarshal.GetReference(text));
        if (length >= 8)
        {
            Vector128<ushort> a = Vector128.LoadUnsafe(ref source);
            Vector128<ushort> b = Vector128.LoadUnsafe(ref source, length - 8);
            Vector128<ulong> both = Vector128.Narrow(a, b).AsUInt64();
            key = new ShortAsciiKey(both.GetElement(0), both.GetElement(1), (int)length);
            return ((a | b) & Vector128.Create((ushort)0xFF80)) == Vector128<ushort>.Zero;
        }

        if (length >= 4)
        {
            ulong a = Unsafe.ReadUnaligned<ulong>(ref Unsafe.As<ushort, byte>(ref source));
            ulong b = Unsafe.ReadUnaligned<ulong>(ref Unsafe.As<ushort, byte>(ref Unsafe.Add(ref source, length - 4)));
            Vector128<ushort> both = Vector128.Create(a, b).AsUInt16();
            ulong narrow = Vector128.Narrow(both, both).AsUInt64().GetElement(0);
            key = new ShortAsciiKey((uint)narrow, narrow >> 32, (int)length);
            return ((a | b) & 0xFF80_FF80_FF80_FF80) == 0;
        }

        uint begin = source;
        uint middle = Unsafe.Add(ref source, length >> 1);
        uint end = Unsafe.Add(ref source, length - 1);
        key = new ShortAsciiKey(KeyHash.Pack(begin, middle, end), 0, (int)length);
        return (begin | middle | end) < 0x80;
    }

    /// <summary>Returns the same hash as that of the bytes in memory.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong Hash(ulong seed) => KeyHash.ComputeUpTo16(_first, _last, Length, seed);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool EqualsStored(byte* stored) => Length switch
    {
        >= 8 => ((Unsafe.ReadUnaligned<ulong>(stored) ^ _first) | (Unsafe.ReadUnaligned<ulong>(stored + Length - 8) ^ _last)) == 0,
        >= 4 => ((Unsafe.ReadUnaligned<uint>(stored) ^ _first) | (Unsafe.ReadUnaligned<uint>(stored + Length - 4) ^ _last)) == 0,
        _ => KeyHash.Pack(stored[0], stored[Length >> 1], stored[Length - 1]) == _first,
    };

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Store(byte* target)
    {
        if (Length >= 8)
        {
            Unsafe.WriteUnaligned(target, _first);
            Unsafe.WriteUnaligned(target + Length - 8, _last);
        }
        else if (Length >= 4)
        {
            Unsafe.WriteUnaligned(target, (uint)_first);
            Unsafe.WriteUnaligned(target + Length - 4, (uint)_last);
        }
        else
        {
            target[0] = (byte)(_first >> 16);
            target[Length >> 1] = (byte)(_first >> 8);
            target[Length - 1] = (byte)_first;
        }
    }
}
