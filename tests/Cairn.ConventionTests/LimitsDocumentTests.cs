namespace Cairn.ConventionTests;

/// <summary>Each row of docs/reference/limits.md names a test that runs the resource out, and what it shows. Those tests exist.</summary>
public sealed class LimitsDocumentTests
{
    private const int Columns = 5;

    private static readonly string[] s_shown = ["O", "M", "R", "OM", "OR", "MR", "OMR"];

    private static readonly string s_document = Repository.At("docs/reference/limits.md");

    [Fact]
    public void Every_row_names_a_test_that_exists()
    {
        string[][] rows = [.. File.ReadLines(s_document).Where(IsRow).Select(row => row.Trim('|').Split('|'))];

        Assert.All(rows, row => Assert.Equal(Columns, row.Length));
        Assert.Empty(rows.Where(row => NamedTests.Of(row[^1]).Length == 0).Select(row => row[0]));
        Assert.Empty(NamedTests.Missing(rows.SelectMany(row => NamedTests.Of(row[^1]))));
        Assert.Empty(rows.Where(row => !s_shown.Contains(row[^2].Trim())).Select(row => row[0]));
        Assert.True(rows.Length >= 70, $"only {rows.Length} resources are listed");
    }

    [Fact]
    public void Test_that_does_not_exist_is_found() =>
        Assert.Equal(["No_test_has_this_name"], NamedTests.Missing(NamedTests.Of("`No_test_has_this_name`, `Test_that_does_not_exist_is_found`")));

    private static bool IsRow(string line) => line.StartsWith('|') && !line.StartsWith("|---", StringComparison.Ordinal) && !line.StartsWith("| finite ", StringComparison.Ordinal);
}
