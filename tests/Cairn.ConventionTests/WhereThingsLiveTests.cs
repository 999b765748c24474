using System.Text.RegularExpressions;

namespace Cairn.ConventionTests;

/// <summary>CONTRIBUTING.md lists every project, docs/architecture.md every folder of the shipped ones, and neither names a file that does not exist.</summary>
public sealed partial class WhereThingsLiveTests
{
    private const string Guide = "CONTRIBUTING.md";
    private const string Architecture = "docs/architecture.md";

    public static TheoryData<string> ProjectsWithFolders =>
    [
        .. Repository.ShippedProjects
            .Where(project => FoldersOf(project).Any())
            .Select(Repository.ProjectName),
    ];

    [Fact]
    public void Every_project_is_in_the_table_of_the_guide()
    {
        var listed = GuideRow().Matches(File.ReadAllText(Repository.At(Guide))).Select(match => match.Groups[1].Value).ToHashSet(StringComparer.Ordinal);

        var projects = Repository.Projects
            .Select(project => Repository.Relative(Path.GetDirectoryName(project)!))
            .Select(folder => string.Join('/', folder.Split('/').Take(2)))
            .Where(folder => !folder.StartsWith("docs/", StringComparison.Ordinal))
            .Distinct();

        Assert.Equal([], projects.Except(listed, StringComparer.Ordinal));
        Assert.All(listed, folder => Assert.True(Path.Exists(Repository.At(folder)), $"{folder} does not exist."));
    }

    [Fact]
    public void Every_path_that_the_guide_names_exists()
    {
        var named = NamedPath().Matches(File.ReadAllText(Repository.At(Guide))).Select(match => match.Groups[1].Value);

        Assert.All(named, path => Assert.True(Path.Exists(Repository.At(path)), $"{path} does not exist."));
    }

    [Theory]
    [MemberData(nameof(ProjectsWithFolders))]
    public void Architecture_has_every_folder_of_a_project_and_no_other(string project)
    {
        string folder = $"src/{project}";
        var described = RowsOf(File.ReadAllText(Repository.At(Architecture)), $"folder of `{folder}`").Order(StringComparer.Ordinal);

        Assert.Equal(FoldersOf(Repository.At($"{folder}/{project}.csproj")).Order(StringComparer.Ordinal), described);
    }

    [Fact]
    public void Names_in_a_column_are_read_row_by_row()
    {
        const string Table =
            """
            | layer | folder of `src/X` | question |
            |---|---|---|
            | A | (root) | `No`? |
            | | `B`, `C` | `No`? |

            | folder of `src/Y` |
            |---|
            | `D` |
            """;

        Assert.Equal(["B", "C"], RowsOf(Table, "folder of `src/X`"));
    }

    private static IEnumerable<string> FoldersOf(string projectFile) =>
        Repository.Files
            .Select(file => Path.GetRelativePath(Path.GetDirectoryName(projectFile)!, file).Replace('\\', '/'))
            .Where(file => !file.StartsWith("..", StringComparison.Ordinal) && file.Contains('/', StringComparison.Ordinal))
            .Select(file => file[..file.IndexOf('/', StringComparison.Ordinal)])
            .Distinct(StringComparer.Ordinal);

    // The names in code style in the column of a table with this heading.
    private static IEnumerable<string> RowsOf(string document, string heading)
    {
        string[] lines = document.Split('\n');
        int head = Array.FindIndex(lines, line => line.StartsWith('|') && CellsOf(line).Contains(heading, StringComparer.Ordinal));
        Assert.True(head >= 0, $"No table has a column '{heading}'.");
        int column = Array.IndexOf(CellsOf(lines[head]), heading);
        return lines.Skip(head + 2).TakeWhile(line => line.StartsWith('|')).SelectMany(line => Code().Matches(CellsOf(line)[column])).Select(match => match.Groups[1].Value);
    }

    private static string[] CellsOf(string line) => [.. line.Split('|')[1..].Select(cell => cell.Trim())];

    [GeneratedRegex("(?m)^\\| `((?:src|tests|bench|samples|release|docs)[^` ]*)` \\|")]
    private static partial Regex GuideRow();

    [GeneratedRegex("`((?:src|tests|bench|samples|release|docs)/[^` ]*)`")]
    private static partial Regex NamedPath();

    [GeneratedRegex("`([^`]+)`")]
    private static partial Regex Code();
}
