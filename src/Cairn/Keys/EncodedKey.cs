using System.Text.Unicode;

namespace Cairn.Keys;

/// <summary>A key as bytes: the caller's bytes, or text encoded into a small buffer on the stack or a rented one.</summary>
internal ref struct EncodedKey
{
    /// <summary>The number of bytes on the stack that an operation provides for the encoding of text.</summary>
    public const int StackBytes = 256;

    private byte[]? _rented;

    /// <summary>Checks and encodes a key.</summary>
    /// <exception cref="ArgumentException">The key is empty, too long, or contains a lone surrogate.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public EncodedKey(CacheKey key, Span<byte> buffer)
    {
        _rented = null;
        if (!key.IsText)
        {
            Bytes = key.Bytes;
            if ((uint)(Bytes.Length - 1) >= EntryView.MaxKeyBytes)
            {
                ThrowLength(Bytes.Length);
            }

            return;
        }

        // Only up to a length for which the buffer always suffices: a character has at most three bytes, and half of a surrogate pair has two.
        ReadOnlySpan<char> text = key.Text;
        if (text.Length <= StackBytes / 3 && text.Length != 0
            && Utf8.FromUtf16(text, buffer, out _, out int written, replaceInvalidSequences: false) == OperationStatus.Done)
        {
            Bytes = buffer[..written];
            return;
        }

        Bytes = EncodeLong(text);
    }

    public ReadOnlySpan<byte> Bytes { get; }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly void Release()
    {
        if (_rented is not null)
        {
            ArrayPool<byte>.Shared.Return(_rented);
        }
    }

    private ReadOnlySpan<byte> EncodeLong(ReadOnlySpan<char> text)
    {
        if (text.Length == 0 || text.Length > EntryView.MaxKeyBytes)
        {
            ThrowLength(text.Length);
        }

        byte[] buffer = ArrayPool<byte>.Shared.Rent(text.Length * 3);
        OperationStatus status = Utf8.FromUtf16(text, buffer, out int read, out int written, replaceInvalidSequences: false);
        if (status != OperationStatus.Done || written > EntryView.MaxKeyBytes)
        {
            ArrayPool<byte>.Shared.Return(buffer);
            if (status == OperationStatus.Done)
            {
                ThrowLength(written);
            }

            throw new ArgumentException(
                $"The key has half of a surrogate pair at character {read}, which has no UTF-8 form. Use valid text, or bytes.",
                "key");
        }

        _rented = buffer;
        return buffer.AsSpan(0, written);
    }

    private static void ThrowLength(int length) =>
        throw new ArgumentException(
            $"A key has 1 to {EntryView.MaxKeyBytes:N0} bytes (text counts in UTF-8); this one has {length:N0}.", "key");
}
