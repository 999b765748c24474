using System.Runtime.Intrinsics;

namespace Cairn.Storage;

/// <summary>Comparison and copying, inlined for the usual lengths of keys and small values.</summary>
internal static unsafe class ShortBytes
{
    /// <summary>Returns whether <paramref name="length"/> bytes, at least one, are equal. It reads no byte beyond them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool AreEqual(byte* left, byte* right, int length)
    {
        if (length is >= 16 and <= 32)
        {
            // Two overlapping loads cover every length between 16 and 32.
            Vector128<byte> first = Vector128.Load(left) ^ Vector128.Load(right);
            Vector128<byte> last = Vector128.Load(left + length - 16) ^ Vector128.Load(right + length - 16);
            return (first | last) == Vector128<byte>.Zero;
        }

        if (length is >= 8 and < 16)
        {
            ulong first = Unsafe.ReadUnaligned<ulong>(left) ^ Unsafe.ReadUnaligned<ulong>(right);
            ulong last = Unsafe.ReadUnaligned<ulong>(left + length - 8) ^ Unsafe.ReadUnaligned<ulong>(right + length - 8);
            return (first | last) == 0;
        }

        if (length is >= 4 and < 8)
        {
            uint first = Unsafe.ReadUnaligned<uint>(left) ^ Unsafe.ReadUnaligned<uint>(right);
            uint last = Unsafe.ReadUnaligned<uint>(left + length - 4) ^ Unsafe.ReadUnaligned<uint>(right + length - 4);
            return (first | last) == 0;
        }

        return new ReadOnlySpan<byte>(left, length).SequenceEqual(new ReadOnlySpan<byte>(right, length));
    }

    /// <summary>Copies <paramref name="length"/> bytes. It touches no byte beyond them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Copy(byte* source, byte* target, int length)
    {
        if (length is >= 16 and <= 32)
        {
            Vector128<byte> first = Vector128.Load(source);
            Vector128<byte> last = Vector128.Load(source + length - 16);
            first.Store(target);
            last.Store(target + length - 16);
        }
        else if (length is >= 4 and < 16)
        {
            CopyShort(source, target, length);
        }
        else
        {
            Unsafe.CopyBlockUnaligned(target, source, (uint)length);
        }
    }

    /// <summary>Copies 4 to 15 bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void CopyShort(byte* source, byte* target, int length)
    {
        if (length >= 8)
        {
            ulong first = Unsafe.ReadUnaligned<ulong>(source);
            ulong last = Unsafe.ReadUnaligned<ulong>(source + length - 8);
            Unsafe.WriteUnaligned(target, first);
            Unsafe.WriteUnaligned(target + length - 8, last);
        }
        else
        {
            uint first = Unsafe.ReadUnaligned<uint>(source);
            uint last = Unsafe.ReadUnaligned<uint>(source + length - 4);
            Unsafe.WriteUnaligned(target, first);
            Unsafe.WriteUnaligned(target + length - 4, last);
        }
    }
}
