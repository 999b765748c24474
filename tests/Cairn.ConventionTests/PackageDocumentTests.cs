using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Cairn.ConventionTests;

/// <summary>A reader of a how-to or a tutorial knows at its beginning what to install.</summary>
public partial class PackageDocumentTests
{
    private const int FirstLines = 15;

    public static TheoryData<string> Guides =>
    [
        .. from document in Repository.Documents
           let name = Repository.Relative(document)
           where name.StartsWith("docs/how-to/", StringComparison.Ordinal) || name.EndsWith("tutorial.md", StringComparison.Ordinal)
           where File.ReadAllText(document).Contains("```csharp", StringComparison.Ordinal)
           select name,
    ];

    [Theory]
    [MemberData(nameof(Guides))]
    public void Guide_with_code_begins_with_the_packages_that_it_needs(string document)
    {
        var line = File.ReadLines(Repository.At(document)).Take(FirstLines).SingleOrDefault(line => PackageLine().IsMatch(line));

        Assert.NotNull(line);
        Assert.Empty(PackageName().Matches(line).Select(match => match.Groups[1].Value).Except(Packed(), StringComparer.Ordinal));
    }

    [Theory]
    [InlineData("README.md")]
    [InlineData("docs/install.md")]
    public void List_of_packages_names_only_those_that_are_made(string document)
    {
        var table = File.ReadLines(Repository.At(document)).Where(line => line.StartsWith('|')).SelectMany(line => PackageName().Matches(line));

        var listed = table.Select(match => match.Groups[1].Value).Distinct(StringComparer.Ordinal).ToList();

        Assert.Empty(listed.Except(Packed(), StringComparer.Ordinal));
        Assert.Equal(10, listed.Count);
    }

    private static List<string> Packed() =>
    [
        .. from project in Repository.ShippedProjects
           let properties = XDocument.Load(project).Descendants().ToLookup(property => property.Name.LocalName, property => property.Value)
           where properties["IsPackable"].Contains("true")
           select properties["PackageId"].FirstOrDefault() ?? Repository.ProjectName(project),
    ];

    [GeneratedRegex("^Packages?: `Cairn")]
    private static partial Regex PackageLine();

    [GeneratedRegex("`(Cairn[.A-Za-z]*)`")]
    private static partial Regex PackageName();
}
