using System.Text.RegularExpressions;
using Cairn.Caching.Serialization;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>docs/reference/envelope.md describes what the code does.</summary>
public sealed partial class EnvelopeDocumentTests : SerializationTest
{
    private static readonly string Document = File.ReadAllText(RepositoryFile.At("docs", "reference", "envelope.md"));

    [Fact]
    public void Example_is_what_is_written()
    {
        string example = Example().Match(Document).Groups[1].Value;

        Assert.Equal(Convert.ToHexString(Write("Dune")), example.Replace(" ", "", StringComparison.Ordinal).Replace("\n", "", StringComparison.Ordinal));
    }

    [Fact]
    public void Every_flag_format_and_status_is_there()
    {
        Assert.Equal(
            Enum.GetValues<EnvelopeFlags>().Where(flag => flag is not EnvelopeFlags.None and not EnvelopeFlags.All).Select(flag => $"{(int)flag} {flag}"),
            Flags().Matches(Document).Select(match => match.Groups[1].Value));
        Assert.Equal(
            Enum.GetValues<CairnFormat>().Where(format => format != CairnFormat.Automatic).Select(format => ($"{(int)format}", $"{format}")),
            Formats().Matches(Document).Select(match => (match.Groups[1].Value, match.Groups[2].Value)));
        Assert.Equal(
            Enum.GetNames<EnvelopeStatus>(),
            Statuses().Matches(Document[Document.IndexOf("| status |", StringComparison.Ordinal)..]).Select(match => match.Groups[1].Value));
    }

    [Fact]
    public void Fields_begin_where_the_last_one_ended()
    {
        int end = 0;
        foreach (Match row in Fields().Matches(Document))
        {
            Assert.Equal(end, int.Parse(row.Groups[1].Value));
            end += int.Parse(row.Groups[2].Value);
        }

        Assert.Equal(Envelope.FixedBytes, end);
    }

    [GeneratedRegex("```text\n([0-9A-F \n]+)```")]
    private static partial Regex Example();

    [GeneratedRegex(@"^\| (\d+ [A-Za-z]+) \|", RegexOptions.Multiline)]
    private static partial Regex Flags();

    [GeneratedRegex(@"^\| (\d+) \| ([A-Z]\w+) \|$", RegexOptions.Multiline)]
    private static partial Regex Formats();

    [GeneratedRegex(@"^\| ([A-Z]\w+) \|", RegexOptions.Multiline)]
    private static partial Regex Statuses();

    [GeneratedRegex(@"^\| (\d+) \| (\d+) \| [a-z]", RegexOptions.Multiline)]
    private static partial Regex Fields();
}
