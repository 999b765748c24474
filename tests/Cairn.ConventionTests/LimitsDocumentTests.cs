namespace Cairn.ConventionTests;

/// <summary>
/// Each row of docs/reference/limits.md has tests that run the resource out, in the list at the end of the page, and the letters of the properties that
/// they show. Those tests exist.
/// </summary>
public sealed class LimitsDocumentTests
{
    private const int Columns = 4;

    private static readonly string[] s_properties = ["O", "M", "R", "OM", "OR", "MR", "OMR"];

    private static readonly string[] s_lines = File.ReadAllLines(Repository.At("docs/reference/limits.md"));

    [Fact]
    public void Every_row_has_tests_that_exist()
    {
        string[][] rows = [.. s_lines.Where(IsRow).Select(row => row.Trim('|').Split('|'))];
        string[][] tested = [.. s_lines.SkipWhile(line => line != "## Tests").Where(line => line.StartsWith("- ", StringComparison.Ordinal)).Select(line => line[2..].Split(": `", 2))];

        Assert.All(rows, row => Assert.Equal(Columns, row.Length));
        Assert.Equal(rows.Select(row => row[0].Trim()), tested.Select(line => line[0]));
        Assert.Empty(tested.Where(line => NamedTests.Of('`' + line[^1]).Length == 0).Select(line => line[0]));
        Assert.Empty(NamedTests.Missing(tested.SelectMany(line => NamedTests.Of('`' + line[^1]))));
        Assert.Empty(rows.Where(row => !s_properties.Contains(row[^1].Trim())).Select(row => row[0]));
        Assert.True(rows.Length >= 70, $"only {rows.Length} resources are listed");
    }

    [Fact]
    public void Test_that_does_not_exist_is_found() =>
        Assert.Equal(["No_test_has_this_name"], NamedTests.Missing(NamedTests.Of("`No_test_has_this_name`, `Test_that_does_not_exist_is_found`")));

    private static bool IsRow(string line) => line.StartsWith('|') && !line.StartsWith("|---", StringComparison.Ordinal) && !line.StartsWith("| finite ", StringComparison.Ordinal);
}
