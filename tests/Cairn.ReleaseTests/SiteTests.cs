using System.Text.RegularExpressions;

namespace Cairn.ReleaseTests;

/// <summary>The documentation site.</summary>
public sealed partial class SiteTests
{
    [ReleaseFact]
    public async Task Site_has_a_page_for_each_document_and_loads_nothing_from_elsewhere()
    {
        using var folder = new TestDirectory();

        await Release.RunAsync(RepositoryFile.Root, RepositoryFile.At("docs", "site", "build"), folder["site"]);

        var documents = Directory.GetFiles(RepositoryFile.At("docs"), "*.md", SearchOption.AllDirectories)
            .Select(file => Path.GetRelativePath(RepositoryFile.Root, file))
            .Where(file => !file.Contains("node_modules", StringComparison.Ordinal));
        Assert.All(
            documents.Append("README.md"),
            document => Assert.True(File.Exists(folder[$"site/{Path.ChangeExtension(document.Replace("README.md", "index.md", StringComparison.Ordinal), ".html")}"]), document));
        var loads = Directory.GetFiles(folder["site"], "*.html", SearchOption.AllDirectories)
            .SelectMany(page => Loaded().Matches(File.ReadAllText(page)))
            .Select(match => match.Groups[1].Value)
            .Where(url => !url.StartsWith("data:", StringComparison.Ordinal));
        Assert.DoesNotContain(loads, url => url.Contains("//", StringComparison.Ordinal));
        Assert.Contains("id=\"soak-test\"", await File.ReadAllTextAsync(folder["site/CONTRIBUTING.html"]), StringComparison.Ordinal);
    }

    [GeneratedRegex("""<(?:script|img|link)[^>]*\s(?:src|href)="([^"]*)[">]""")]
    private static partial Regex Loaded();
}
