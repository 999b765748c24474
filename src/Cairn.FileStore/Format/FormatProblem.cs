namespace Cairn.FileStore.Format;

/// <summary>An error in a text and its position. Lines and columns count from 1; columns are in characters.</summary>
internal sealed record FormatProblem(int Line, int Column, string Text)
{
    public static FormatProblem At(ReadOnlySpan<byte> text, int position, string problem)
    {
        ReadOnlySpan<byte> before = text[..Math.Min(position, text.Length)];
        int lineStart = before.LastIndexOf((byte)'\n') + 1;
        ReadOnlySpan<byte> line = before[lineStart..];
        if (lineStart == 0 && line.StartsWith("\uFEFF"u8))
        {
            line = line[3..]; // Editors do not count the byte-order mark as a column.
        }

        return new FormatProblem(before.Count((byte)'\n') + 1, Encoding.UTF8.GetCharCount(line) + 1, problem);
    }
}
