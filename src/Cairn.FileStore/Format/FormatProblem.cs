using System.Text;

namespace Cairn.FileStore.Format;

/// <summary>What is wrong with a text, and where: line and column count from 1, columns in characters.</summary>
internal sealed record FormatProblem(int Line, int Column, string Text)
{
    public static FormatProblem At(ReadOnlySpan<byte> text, int position, string problem)
    {
        ReadOnlySpan<byte> before = text[..Math.Min(position, text.Length)];
        int lineStart = before.LastIndexOf((byte)'\n') + 1;
        ReadOnlySpan<byte> line = before[lineStart..];
        if (lineStart == 0 && line.StartsWith("\uFEFF"u8))
        {
            line = line[3..]; // No editor counts the mark.
        }

        return new FormatProblem(before.Count((byte)'\n') + 1, Encoding.UTF8.GetCharCount(line) + 1, problem);
    }
}
