using Cairn.Benchmarks.Reporting;

namespace Cairn.Benchmarks.Tests.Reporting;

public sealed class DocumentFiguresTests
{
    [Fact]
    public void Charts_and_tables_of_the_documents_are_those_that_the_command_writes()
    {
        (string Path, string Text)[] files = [.. DocumentFigures.Create(BenchmarkCommand.RepositoryRoot())];

        Assert.True(files.Length >= 3);
        Assert.All(files, file => Assert.True(
            File.Exists(file.Path) && File.ReadAllText(file.Path) == file.Text, $"{file.Path} differs from bench/results. Run bench/run chart."));
    }

    [Fact]
    public void Every_table_of_figures_on_the_page_of_the_benchmarks_is_made_from_results()
    {
        string[] lines = File.ReadAllLines(Path.Combine(BenchmarkCommand.RepositoryRoot(), "docs", "benchmarks.md"));

        int[] begins = [.. Enumerable.Range(1, lines.Length - 1).Where(i => lines[i].StartsWith("|---", StringComparison.Ordinal) && lines[i - 1] != "| row | what is compared |")];

        Assert.True(begins.Length > 20);
        Assert.All(begins, i => Assert.True(
            lines[i - 3].StartsWith("<!-- ", StringComparison.Ordinal), $"docs/benchmarks.md:{i}: the table is written by hand. Record its figures in bench/results/tables, and run bench/run chart."));
    }

    [Fact]
    public void Every_recorded_table_is_in_a_document()
    {
        string root = BenchmarkCommand.RepositoryRoot();
        string documents = string.Concat(DocumentFigures.Create(root).Select(file => file.Text));

        Assert.All(
            Directory.EnumerateFiles(Path.Combine(root, "bench", "results", "tables")).Select(Path.GetFileNameWithoutExtension),
            name => Assert.Contains($"<!-- table: {name} -->", documents, StringComparison.Ordinal));
    }

    [Fact]
    public void Recorded_table_keeps_the_digits_and_says_which_goals_are_met()
    {
        using var root = new TestDirectory();
        Write(root, """[["get", 1234567.50, true], ["set, 10 % of 5", 999, false], ["", null, "-1,5"]]""");

        IEnumerable<string> lines = RecordedTable.Read(root.Path, "costs");

        Assert.Equal(["| case | ns | met |", "|---|---|---|", "| get | 1,234,567.50 | yes |", "| set, 10 % of 5 | 999 | **no** |", "| | - | -1,5 |"], lines);
    }

    [Fact]
    public void Recorded_table_with_a_row_of_another_length_is_refused()
    {
        using var root = new TestDirectory();
        Write(root, """[["get", 12]]""");

        var error = Assert.Throws<InvalidDataException>(() => RecordedTable.Read(root.Path, "costs"));

        Assert.EndsWith("the row 'get' has 2 cells. The table has 3 columns.", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Findings_name_the_side_of_a_goal_and_the_kind_of_subject()
    {
        ReportRow[] rows =
        [
            new("get", "Cairn over a store file", "a peer", 1234.5, null, 0, 0.456, 0.62, true),
            new("get", "Cairn, two threads", "one", 50.04, null, 0, 12.34, 18, false, AtLeast: true),
            new("get, bytes", "Cairn", "a peer", 1, null, 857, 1.03, null, null),
            new("get", "Cairn", "1 byte", 50, null, 0, 0, 0, true),
        ];

        Assert.Equal(
            [
                "| get (over a store file) | a peer | 1,235 | 0.46 | at most 0.62 | yes |",
                "| get (two threads) | one | 50.0 | 12.3 | at least 18 | **no** |",
                "| get, bytes | a peer | 857 B | 1.03 | - | - |",
            ],
            FindingsTable.Of(rows).Skip(2));
    }

    private static void Write(TestDirectory root, string rows)
    {
        string folder = Path.Combine(root.Path, "bench", "results", "tables");
        Directory.CreateDirectory(folder);
        File.WriteAllText(
            Path.Combine(folder, "costs.json"),
            $$"""{"command": "c", "date": "d", "commit": "0", "machine": "m", "columns": ["case", "ns", "met"], "rows": {{rows}}}""");
    }
}
