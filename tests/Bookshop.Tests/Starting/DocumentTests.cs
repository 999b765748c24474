using System.Text.RegularExpressions;
using Bookshop.Reading;

namespace Bookshop.Tests.Starting;

/// <summary>Statements of documents about the Bookshop are correct.</summary>
public sealed partial class DocumentTests
{
    private static readonly string[] Numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

    [Theory]
    [InlineData("README.md")]
    [InlineData("docs/README.md")]
    [InlineData("samples/Bookshop/README.md")]
    public void Document_counts_the_read_paths_that_there_are(string document)
    {
        var text = File.ReadAllText(RepositoryFile.At(document));

        var counted = Counted().Matches(text).Select(match => match.Groups[1].Value);

        Assert.Equal([Numbers[ReadPaths.Names.Count()]], counted.Distinct(StringComparer.Ordinal));
    }

    [Fact]
    public void Readme_describes_every_read_path()
    {
        var text = File.ReadAllText(RepositoryFile.At("samples/Bookshop/README.md"));

        Assert.All(ReadPaths.Names, name => Assert.Contains($"\n| `{name}` |", text, StringComparison.Ordinal));
    }

    [GeneratedRegex(@"(\w+) ways to read a book")]
    private static partial Regex Counted();
}
