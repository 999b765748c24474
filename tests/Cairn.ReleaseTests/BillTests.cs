using System.Text.Json;
using System.Xml.Linq;

namespace Cairn.ReleaseTests;

/// <summary>The bills of materials.</summary>
public sealed class BillTests(MadeBinaries made) : IClassFixture<MadeBinaries>
{
    [ReleaseTheory]
    [InlineData("tool", "Cairn.Cli")]
    [InlineData("libraries", "Cairn.Caching.Protobuf", "Cairn.Redis.StackExchange")]
    public async Task Bill_lists_each_package_that_the_projects_ask_for_with_version_licence_and_checksum(string name, params string[] projects)
    {
        using var document = JsonDocument.Parse(await File.ReadAllTextAsync(made.Made($"cairn-*-{name}.cdx.json")));
        var listed = document.RootElement.GetProperty("components").EnumerateArray().ToDictionary(component => component.GetProperty("name").GetString()!, StringComparer.Ordinal);
        var versions = XDocument.Load(RepositoryFile.At("Directory.Packages.props")).Descendants("PackageVersion")
            .ToDictionary(item => (string)item.Attribute("Include")!, item => (string)item.Attribute("Version")!, StringComparer.Ordinal);
        var asked = projects.SelectMany(project => XDocument.Load(RepositoryFile.At("src", project, $"{project}.csproj")).Descendants("PackageReference"))
            .Select(item => (string)item.Attribute("Include")!).ToList();

        Assert.Equal("CycloneDX", document.RootElement.GetProperty("bomFormat").GetString());
        Assert.NotEmpty(asked);
        Assert.All(asked, package =>
        {
            Assert.True(listed.ContainsKey(package), package);
            Assert.Equal(versions[package], listed[package].GetProperty("version").GetString());
            Assert.NotEqual(0, listed[package].GetProperty("licenses").GetArrayLength());
            Assert.NotEqual(0, listed[package].GetProperty("hashes").GetArrayLength());
        });
        Assert.Equal(name == "tool", listed.ContainsKey(".NET and ASP.NET Core runtime"));
    }
}
