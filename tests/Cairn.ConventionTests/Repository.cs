using System.Xml.Linq;

namespace Cairn.ConventionTests;

/// <summary>The files of the repository these tests were built from.</summary>
internal static class Repository
{
    // Folders that builds and runs create, as in .gitignore.
    private static readonly string[] GeneratedDirectories =
        ["bin", "obj", "artifacts", ".git", ".vs", ".idea", "TestResults", "BenchmarkDotNet.Artifacts", "node_modules"];

    public static string Root => RepositoryFile.Root;

    public static IReadOnlyList<string> Files { get; } = [.. EnumerateFiles(Root).Order(StringComparer.Ordinal)];

    public static IEnumerable<string> Projects => Files.Where(file => file.EndsWith(".csproj", StringComparison.Ordinal));

    public static IEnumerable<string> ShippedProjects =>
        Projects.Where(file => Relative(file).StartsWith("src/", StringComparison.Ordinal));

    public static IEnumerable<string> Documents => Files.Where(file => file.EndsWith(".md", StringComparison.Ordinal));

    public static IEnumerable<string> Sources => Files.Where(file => file.EndsWith(".cs", StringComparison.Ordinal));

    /// <summary>Gets the files that a shell runs: those without an extension that begin with <c>#!</c>.</summary>
    public static IEnumerable<string> Scripts => Files.Where(file => Path.GetExtension(file).Length == 0 && File.ReadLines(file).FirstOrDefault("").StartsWith("#!", StringComparison.Ordinal));

    /// <summary>Gets the code of the dashboard's pages.</summary>
    public static IEnumerable<string> Pages => Files.Where(file => Path.GetExtension(file) is ".js" or ".html" && Relative(file).StartsWith("src/", StringComparison.Ordinal));

    public static string At(string relativePath) => Path.Combine(Root, relativePath);

    public static string Relative(string file) => Path.GetRelativePath(Root, file).Replace('\\', '/');

    public static string ProjectName(string projectFile) => Path.GetFileNameWithoutExtension(projectFile);

    public static IEnumerable<string> ItemsOf(string projectFile, string itemName) =>
        from item in XDocument.Load(projectFile).Descendants(itemName)
        let include = (string?)item.Attribute("Include")
        where include is not null
        select include;

    private static IEnumerable<string> EnumerateFiles(string directory)
    {
        foreach (var file in Directory.EnumerateFiles(directory))
        {
            yield return file;
        }

        foreach (var child in Directory.EnumerateDirectories(directory))
        {
            if (!GeneratedDirectories.Contains(Path.GetFileName(child), StringComparer.Ordinal))
            {
                foreach (var file in EnumerateFiles(child))
                {
                    yield return file;
                }
            }
        }
    }
}
