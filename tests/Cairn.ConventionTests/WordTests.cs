using System.Text.RegularExpressions;

namespace Cairn.ConventionTests;

/// <summary>
/// Turns of phrase that a reader of technical English has to read twice. The tests look for them in C# (comments, documentation, messages), Markdown,
/// shell scripts and the dashboard's pages, and for some of them in names of tests. Names of files may keep theirs.
/// </summary>
public partial class WordTests
{
    public static TheoryData<string> Folders => [.. TextFiles.Select(FolderOf).Distinct(StringComparer.Ordinal)];

    private static IEnumerable<string> TextFiles =>
        Repository.Sources.Concat(Repository.Documents).Concat(Repository.Scripts).Concat(Repository.Pages).Where(file => Path.GetFileName(file) != "WordTests.cs");

    [Theory]
    [MemberData(nameof(Folders))]
    public void Text_has_no_turns_that_must_be_read_twice(string folder)
    {
        string[] found =
        [
            .. from file in TextFiles
               where FolderOf(file) == folder
               from line in File.ReadLines(file).Select((text, index) => (text, number: index + 1))
               from match in Turns().Matches(line.text)
               select $"{Repository.Relative(file)}:{line.number}: {match.Value}",
        ];

        Assert.True(
            found.Length == 0,
            $"docs/glossary.md has the terms; CONTRIBUTING.md, section English, says how to write.\n{string.Join('\n', found)}");
    }

    [Theory]
    [InlineData("Nobody waits for it.", 1)]
    [InlineData("RESP is spoken by the store's own collection; the most is 5.", 3)]
    [InlineData("Whoever opens it, and somebody else.", 2)]
    [InlineData("No operation, but for transactions, waits for ever.", 2)]
    [InlineData("    // Who reads asks first.", 1)]
    [InlineData("A thief seizes the lock, so that none is owed.", 4)]
    [InlineData("    /// <param name=\"a\">Of the key.</param>", 1)]
    [InlineData("    public void Key_that_nobody_has_is_absent()", 1)]
    [InlineData("    public async Task Who_waits_is_told_of_it(int count)", 1)]
    [InlineData("    public void What_was_set_is_found() => Read();", 1)]
    [InlineData("    public void Caller_that_waits_gets_the_value()", 0)]
    [InlineData("Everything besides the key is written anew.", 2)]
    [InlineData("memcached -u nobody", 0)]
    [InlineData("// The reader asks who holds the lock.", 0)]
    [InlineData("[decision 18](decisions/0018-eras-and-owed-changes.md)", 0)]
    public void Turns_are_found(string line, int count) => Assert.Equal(count, Turns().Count(line));

    // Two levels: src/Cairn, tests/Cairn.Tests, docs/how-to. Files at the root are the root's.
    private static string FolderOf(string file)
    {
        string[] parts = Repository.Relative(file).Split('/');
        return parts.Length == 1 ? "." : string.Join('/', parts[..Math.Min(2, parts.Length - 1)]);
    }

    [GeneratedRegex(
        """
        (?<!-u\ )\b(?i:nobody|whoever|somebody|for\ ever|but\ for|in\ vain|could\ not\ be\ had|the\ most\ is|is\ spoken|the\ like|hears\ of|heard\ of|anew|besides)\b
        |\b(?i:(is|are|was|were|be)\ told|(is|are|be)\ of\ use|not\ to\ be\ had)\b
        |(?<!-)\b(?i:so\ that\ none|tells\ of|store's\ own\ collection|thief|thieves|seiz(e|es|ed|ing)|ledger|owed|verdict|surroundings)\b(?!-)
        |(?<=(//|///|\*|\.)\ +)(Who|What)\ (?!.*\?)
        |(?<=<param\ name="\w+">)Of\ 
        |(?<=^\ {4}public\ (async\ )?(void|Task)\ )((What|Who|Whoever)_|\w*?_(?i:nobody|somebody|whoever|who|he|his|him|told|tells|owed|heard|unheard|for_ever|in_vain|anew|goes_on|go_on|everybody|anybody|give_way|gives_way)(_|(?=\()))\w*(?=\()
        """,
        RegexOptions.IgnorePatternWhitespace)]
    private static partial Regex Turns();
}
