using System.Text.RegularExpressions;

namespace Cairn.ReleaseTests;

/// <summary>The page that `man cairn` shows.</summary>
public sealed partial class ManualTests
{
    private static readonly string Page = File.ReadAllText(RepositoryFile.At("release", "cairn.1"));

    [Fact]
    public void Page_lists_the_commands_and_exit_codes_of_the_reference_in_its_order()
    {
        var reference = File.ReadAllText(RepositoryFile.At("docs", "reference", "tool.md"));
        var documented = CommandOfReference().Matches(reference).Select(match => match.Groups[1].Value).ToList();
        var codes = CodeOfReference().Matches(reference).Select(match => match.Groups[1].Value).Where(code => code.Length < 3).ToList();

        var listed = EntryOfPage().Matches(SectionOf("COMMANDS")).Select(match => match.Groups[1].Value).ToList();
        var explained = EntryOfPage().Matches(SectionOf("EXIT STATUS")).Select(match => match.Groups[1].Value).ToList();

        Assert.NotEmpty(documented);
        Assert.Equal(documented.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
        Assert.Equal(codes, explained);
    }

    [RequiresToolFact("man")]
    public async Task Page_is_set_without_a_warning()
    {
        var run = await Release.TryRunAsync(
            RepositoryFile.Root, environment: null, "man", "--warnings", "--local-file", RepositoryFile.At("release", "cairn.1"));

        Assert.Equal((0, ""), (run.ExitCode, run.Errors));
    }

    private static string SectionOf(string heading)
    {
        var start = Page.IndexOf($".SH {heading}\n", StringComparison.Ordinal);
        var end = Page.IndexOf("\n.SH ", start + 1, StringComparison.Ordinal);
        return Page[start..end];
    }

    [GeneratedRegex(@"^\| \[(\w+)\]\(#\1\) \|", RegexOptions.Multiline)]
    private static partial Regex CommandOfReference();

    [GeneratedRegex(@"^\| (\d+) \|", RegexOptions.Multiline)]
    private static partial Regex CodeOfReference();

    [GeneratedRegex(@"^\.TP\n\.B (\w+)$", RegexOptions.Multiline)]
    private static partial Regex EntryOfPage();
}
