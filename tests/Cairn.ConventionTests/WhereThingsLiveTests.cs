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

    [Theory]
    [MemberData(nameof(ProjectsWithFolders))]
    public void Architecture_names_main_types_that_their_folders_have(string project)
    {
        string document = File.ReadAllText(Repository.At(Architecture));

        var missing =
            from row in TableWith(document, $"folder of `src/{project}`")
            let folders = NamesIn(row.Names).DefaultIfEmpty("").Select(folder => Repository.At($"src/{project}/{folder}")).ToList()
            let code = string.Concat(folders.SelectMany(CodeIn).Select(File.ReadAllText))
            from name in NamesIn(row.LastCell)
            where !DeclarationOf(name).IsMatch(code) && !folders.Any(folder => Directory.Exists(Path.Combine(folder, name)))
            select $"{name} ({row.Names})";

        Assert.Equal([], missing);
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

    private static IEnumerable<string> CodeIn(string folder) =>
        Directory.EnumerateFiles(folder, "*.cs", Path.EndsInDirectorySeparator(folder) ? SearchOption.TopDirectoryOnly : SearchOption.AllDirectories);

    // The declaration of a type, or of a method that registers one.
    private static Regex DeclarationOf(string name) =>
        new($@"\b(?:class|struct|record|interface|enum)\s+{Regex.Escape(name)}\b|\bstatic\b[^\n=]*\b{Regex.Escape(name)}[<(]", RegexOptions.CultureInvariant, TimeSpan.FromMinutes(1));

    // The names in code style in the column of a table with this heading.
    private static IEnumerable<string> RowsOf(string document, string heading) =>
        TableWith(document, heading).SelectMany(row => NamesIn(row.Names));

    private static IEnumerable<string> NamesIn(string cell) => Code().Matches(cell).Select(match => match.Groups[1].Value);

    // The cells of the column with this heading, and the last cells of the same rows.
    private static IEnumerable<(string Names, string LastCell)> TableWith(string document, string heading)
    {
        string[] lines = document.Split('\n');
        int head = Array.FindIndex(lines, line => line.StartsWith('|') && CellsOf(line).Contains(heading, StringComparer.Ordinal));
        Assert.True(head >= 0, $"No table has a column '{heading}'.");
        int column = Array.IndexOf(CellsOf(lines[head]), heading);
        return lines.Skip(head + 2).TakeWhile(line => line.StartsWith('|')).Select(CellsOf).Select(cells => (cells[column], cells[^2]));
    }

    private static string[] CellsOf(string line) => [.. line.Split('|')[1..].Select(cell => cell.Trim())];

    [GeneratedRegex("(?m)^\\| `((?:src|tests|bench|samples|release|docs)[^` ]*)` \\|")]
    private static partial Regex GuideRow();

    [GeneratedRegex("`((?:src|tests|bench|samples|release|docs)/[^` ]*)`")]
    private static partial Regex NamedPath();

    [GeneratedRegex("`([^`]+)`")]
    private static partial Regex Code();
}
