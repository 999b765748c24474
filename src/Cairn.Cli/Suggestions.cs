using System.CommandLine.Completions;

namespace Cairn.Cli;

// Answers the question of a shell while the user types: `cairn [suggest:12] "cairn get --st"`, with the position of the cursor in the line,
// and the line. This is the form of other tools with System.CommandLine. The output has one suggestion per line.
internal static class Suggestions
{
    private const string Directive = "[suggest";

    public static bool IsAskedFor(IReadOnlyList<string> args) =>
        args.Count > 0 && (args[0] == $"{Directive}]" || args[0].StartsWith($"{Directive}:", StringComparison.Ordinal));

    public static void Write(Command root, ParserConfiguration parsing, IReadOnlyList<string> args, ToolOutput output)
    {
        string line = args.Count > 1 ? args[1] : "";
        int position = PositionOf(args[0]) is { } given && given >= 0 && given <= line.Length ? given : line.Length;

        // The text after the cursor is ignored. The first word is the name under which the shell called the tool.
        line = line[..position];
        int space = line.IndexOf(' ', StringComparison.Ordinal);
        line = space < 0 ? "" : line[(space + 1)..].TrimStart();
        foreach (CompletionItem item in root.Parse(line, parsing).GetCompletions(line.Length))
        {
            output.WriteLine(item.InsertText ?? item.Label);
        }
    }

    private static int? PositionOf(string directive) =>
        int.TryParse(directive.AsSpan(Directive.Length).Trim(":]"), NumberStyles.None, CultureInfo.InvariantCulture, out int position)
            ? position
            : null;
}
