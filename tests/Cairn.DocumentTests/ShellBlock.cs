namespace Cairn.DocumentTests;

/// <summary>A block of shell in a document, and what the document shows as its output.</summary>
/// <param name="Line">Where it begins, from 1.</param>
/// <param name="Script">What a reader pastes.</param>
/// <param name="Output">The lines of the block of text that follows it, with nothing but an empty line between; empty if none does.</param>
internal sealed record ShellBlock(int Line, string Script, IReadOnlyList<string> Output)
{
    private const string End = "```";

    public static IEnumerable<ShellBlock> Read(string[] lines)
    {
        for (int start = 0; start < lines.Length; start++)
        {
            if (lines[start] != "```sh")
            {
                continue;
            }

            int end = Array.IndexOf(lines, End, start);
            string[] output = end + 2 < lines.Length && lines[end + 2] == "```text" ? lines[(end + 3)..Array.IndexOf(lines, End, end + 3)] : [];
            yield return new ShellBlock(start + 1, string.Join('\n', lines[(start + 1)..end]) + "\n", output);
            start = end;
        }
    }

    /// <summary>True if the lines were printed, in this order. Others between them are what programs say of their progress.</summary>
    public bool IsShownBy(string printed)
    {
        int shown = 0;
        foreach (string line in printed.Split('\n'))
        {
            if (shown < Output.Count && Unquoted(line) == Unquoted(Output[shown]))
            {
                shown++;
            }
        }

        return shown == Output.Count;
    }

    // redis-cli quotes a value only on a terminal.
    private static string Unquoted(string line) => line.Length > 1 && line[0] == '"' && line[^1] == '"' ? line[1..^1] : line;
}
