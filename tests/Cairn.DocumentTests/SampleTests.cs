namespace Cairn.DocumentTests;

/// <summary>
/// A file of Samples contains every C# block of a document, word for word, and compiles and runs it. If a document changes, that file must change
/// too.
/// </summary>
public sealed class SampleTests
{
    private static readonly List<string[]> Code =
        [.. Directory.GetFiles(RepositoryFile.At("tests", "Cairn.DocumentTests", "Samples"), "*.cs").Select(f => Sample.Normalize(File.ReadLines(f)))];

    public static TheoryData<string> Samples => [.. Sample.All.Where(sample => sample.WhyNotCompiled is null).Select(sample => sample.ToString())];

    [Theory]
    [MemberData(nameof(Samples))]
    public void Sample_of_a_document_is_compiled_and_run(string place)
    {
        var sample = Sample.All.Single(sample => sample.ToString() == place);

        Assert.True(Code.Exists(sample.IsIn), $"{place} is in no file of tests/Cairn.DocumentTests/Samples as it stands in the document.");
    }

    [Fact]
    public void Sample_that_was_changed_is_noticed()
    {
        string[] document = ["<!-- not compiled: no reason to -->", "```csharp", "a();", "```", "", "```csharp", "using X;", "{", "", "b();", "}", "", "c();", "```"];

        Sample[] samples = [.. Sample.Read("x.md", document)];

        Assert.Equal(["no reason to", null], samples.Select(sample => sample.WhyNotCompiled));
        Assert.Equal([1, 2], samples.Select(sample => sample.Paragraphs.Count));
        Assert.True(samples[1].IsIn(["c();", "{", "b();", "}"]));
        Assert.False(samples[1].IsIn(["c();", "{", "b(1);", "}"]));
    }
}
