using System.Text.Unicode;

namespace Cairn.Maps;

// Text is stored as UTF-8. Text with half of a surrogate pair has no UTF-8 form. It is stored as a byte that never occurs in UTF-8, followed by the
// characters unchanged. Empty text is stored in the same way, because a key has at least one byte. Each text has exactly one form.
internal sealed class MapTextCodec : MapCodec<string>
{
    private const byte RawMark = 0xFF;
    private const int BytesPerCharacter = 3;

    public override string FormatId => "utf-8";

    public override ReadOnlySpan<byte> Write(string value, Span<byte> scratch, scoped ref PooledWriter? writer)
    {
        ArgumentNullException.ThrowIfNull(value);
        Span<byte> target = scratch;
        if (value.Length > (scratch.Length - 1) / BytesPerCharacter)
        {
            writer = PooledWriter.Take();
            target = writer.GetSpan(checked((value.Length * BytesPerCharacter) + 1));
        }

        OperationStatus status = Utf8.FromUtf16(value, target, out _, out int written, replaceInvalidSequences: false);
        if (status == OperationStatus.Done && written != 0)
        {
            return target[..written];
        }

        target[0] = RawMark;
        ReadOnlySpan<byte> characters = MemoryMarshal.AsBytes(value.AsSpan());
        characters.CopyTo(target[1..]);
        return target[..(characters.Length + 1)];
    }

    public override string Read(ReadOnlySpan<byte> source) =>
        source is [RawMark, .. var characters]
            ? string.Create(characters.Length / sizeof(char), characters, static (text, bytes) => bytes[..(text.Length * sizeof(char))].CopyTo(MemoryMarshal.AsBytes(text)))
            : Encoding.UTF8.GetString(source);
}
