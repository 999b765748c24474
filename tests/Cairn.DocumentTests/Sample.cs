using System.Text.RegularExpressions;

namespace Cairn.DocumentTests;

/// <summary>A C# block in a document. Spaces at either end of a line, blank lines and using directives do not count.</summary>
internal sealed partial record Sample(string Document, int Line, IReadOnlyList<IReadOnlyList<string>> Paragraphs, string? WhyNotCompiled)
{
    private static readonly string[] Generated = ["bin", "obj", "artifacts", ".git", "node_modules"];

    /// <summary>Gets the samples of all documents of the repository, in the order of their files.</summary>
    public static IEnumerable<Sample> All =>
        from file in Documents
        from sample in Read(Path.GetRelativePath(RepositoryFile.Root, file), File.ReadAllLines(file))
        select sample;

    /// <summary>Gets the paths of all documents of the repository, in order.</summary>
    public static IEnumerable<string> Documents => DocumentsBelow(RepositoryFile.Root).Order(StringComparer.Ordinal);

    /// <summary>
    /// Returns the samples of one document. A comment `not compiled: REASON` on the line above a block gives the reason. A sample consists of paragraphs,
    /// which blank lines outside of braces separate, because a file cannot mix types and statements.
    /// </summary>
    public static IEnumerable<Sample> Read(string document, string[] lines)
    {
        for (int i = 0; i < lines.Length; i++)
        {
            if (lines[i].Trim() != "```csharp")
            {
                continue;
            }

            int start = i + 1;
            int end = Array.FindIndex(lines, start, line => line.Trim() == "```");
            var reason = start > 1 ? NotCompiled().Match(lines[start - 2]) : Match.Empty;
            yield return new Sample(document, start, ParagraphsOf(lines[start..end]), reason.Success ? reason.Groups[1].Value : null);
            i = end;
        }
    }

    /// <summary>Returns whether these lines contain every paragraph.</summary>
    public bool IsIn(string[] code) => Paragraphs.All(paragraph => IsIn(code, paragraph));

    /// <summary>Returns the lines in the form in which they are compared.</summary>
    public static string[] Normalize(IEnumerable<string> lines) => [.. lines.Select(line => line.Trim()).Where(Counts)];

    public override string ToString() => $"{Document}:{Line}";

    private static bool IsIn(string[] code, IReadOnlyList<string> paragraph)
    {
        for (int start = 0; start + paragraph.Count <= code.Length; start++)
        {
            if (code.AsSpan(start, paragraph.Count).SequenceEqual([.. paragraph]))
            {
                return true;
            }
        }

        return false;
    }

    private static List<IReadOnlyList<string>> ParagraphsOf(string[] lines)
    {
        var paragraphs = new List<IReadOnlyList<string>>();
        var paragraph = new List<string>();
        foreach (string line in lines.Append(""))
        {
            if (line.Length > 0)
            {
                paragraph.Add(line);
            }
            else if (paragraph.Count > 0 && Depth(paragraph) == 0)
            {
                paragraphs.Add(Normalize(paragraph));
                paragraph = [];
            }
        }

        return [.. paragraphs.Where(kept => kept.Count > 0)];
    }

    private static int Depth(List<string> lines) =>
        lines.Sum(line => line.Count(c => c is '{' or '(') - line.Count(c => c is '}' or ')'));

    private static bool Counts(string line) => line.Length > 0 && !UsingDirective().IsMatch(line);

    private static IEnumerable<string> DocumentsBelow(string directory) =>
        Directory.GetFiles(directory, "*.md").Concat(
            from child in Directory.GetDirectories(directory)
            where !Generated.Contains(Path.GetFileName(child), StringComparer.Ordinal)
            from file in DocumentsBelow(child)
            select file);

    [GeneratedRegex(@"^\s*<!-- not compiled: (.+) -->\s*$")]
    private static partial Regex NotCompiled();

    [GeneratedRegex(@"^using [\w.]+;$")]
    private static partial Regex UsingDirective();
}
