namespace Cairn.DocumentTests;

/// <summary>A shell block in a document, and the output that the document shows.</summary>
/// <param name="Line">The first line of the block, from 1.</param>
/// <param name="Script">The text that a reader pastes. In a console block, the lines that begin with a prompt.</param>
/// <param name="Output">
/// The lines of the text block that follows, separated from the shell block by an empty line at most. Empty without such a block. In a console block, the
/// lines without a prompt.
/// </param>
internal sealed record ShellBlock(int Line, string Script, IReadOnlyList<string> Output)
{
    private const string End = "```";
    private const string Prompt = "$ ";

    public static IEnumerable<ShellBlock> Read(string[] lines)
    {
        for (int start = 0; start < lines.Length; start++)
        {
            if (lines[start] is not ("```sh" or "```console"))
            {
                continue;
            }

            int end = Array.IndexOf(lines, End, start);
            string[] block = lines[(start + 1)..end];
            if (lines[start] == "```sh")
            {
                string[] output = end + 2 < lines.Length && lines[end + 2] == "```text" ? lines[(end + 3)..Array.IndexOf(lines, End, end + 3)] : [];
                yield return new ShellBlock(start + 1, string.Join('\n', block) + "\n", output);
            }
            else
            {
                IEnumerable<string> commands = block.Where(line => line.StartsWith(Prompt, StringComparison.Ordinal)).Select(line => line[Prompt.Length..]);
                yield return new ShellBlock(start + 1, string.Join('\n', commands) + "\n", [.. block.Where(line => !line.StartsWith(Prompt, StringComparison.Ordinal))]);
            }

            start = end;
        }
    }

    /// <summary>Returns whether the lines were printed in this order. Other lines between them are progress messages of programs.</summary>
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
