using System.Text;
using System.Text.RegularExpressions;

namespace Cairn.ConventionTests;

/// <summary>Links in the documents lead somewhere.</summary>
public partial class DocumentTests
{
    public static TheoryData<string> Documents => [.. Repository.Documents.Select(Repository.Relative)];

    [Theory]
    [MemberData(nameof(Documents))]
    public void Every_link_leads_to_a_file_and_a_heading_that_exist(string document)
    {
        var file = Repository.At(document);

        var broken = LinksOf(File.ReadAllText(file)).Where(link => !Resolves(file, link));

        Assert.Empty(broken);
    }

    [Fact]
    public void Index_lists_every_document_once()
    {
        string index = Repository.At("docs/README.md");
        string[] listed = [.. LinksOf(File.ReadAllText(index)).Where(link => !link.StartsWith("../", StringComparison.Ordinal)).Select(link => $"docs/{link}")];

        // Decisions have an index of their own.
        var documents = Repository.Documents.Select(Repository.Relative)
            .Where(document => document.StartsWith("docs/", StringComparison.Ordinal) && document != "docs/README.md"
                && (!document.StartsWith("docs/decisions/", StringComparison.Ordinal) || document == "docs/decisions/README.md"));

        Assert.Equal(documents.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Documents))]
    public void Every_picture_has_alternative_text_and_no_fixed_white_ground(string document)
    {
        string folder = Path.GetDirectoryName(Repository.At(document))!;

        foreach (Match picture in Picture().Matches(CodeBlock().Replace(File.ReadAllText(Repository.At(document)), "")))
        {
            string file = Path.Combine(folder, picture.Groups[2].Value);
            Assert.False(string.IsNullOrWhiteSpace(picture.Groups[1].Value), $"{file} has no alternative text.");
            Assert.False(file.EndsWith(".svg", StringComparison.Ordinal) && WhiteGround().IsMatch(File.ReadAllText(file)), $"{file} is white in a dark theme.");
        }
    }

    // A rewritten sentence beside its old version begins like it.
    [Theory]
    [MemberData(nameof(Documents))]
    public void No_line_of_text_begins_as_the_line_before_it(string document)
    {
        string[] lines = CodeBlock().Replace(File.ReadAllText(Repository.At(document)), "").Split('\n');

        Assert.DoesNotContain(lines.Zip(lines.Skip(1)), pair => !pair.First.StartsWith('|') && !pair.First.StartsWith("    ", StringComparison.Ordinal) && pair.First.AsSpan().CommonPrefixLength(pair.Second) >= 35);
    }

    // Code, and each cell of a table, counts as one word or as a sentence of its own.
    [Theory]
    [MemberData(nameof(Documents))]
    public void Sentence_of_a_document_has_at_most_40_words(string document)
    {
        string prose = LinkWithText().Replace(InlineCode().Replace(IndentedLine().Replace(CodeBlock().Replace(File.ReadAllText(Repository.At(document)), ""), ""), "code"), "$1");

        Assert.DoesNotContain(Sentence().Split(prose), sentence => Word().Count(sentence) > 40);
    }

    // docs/compare/README.md is their index.
    [Fact]
    public void Every_comparison_names_versions_and_sources_and_begins_with_what_the_other_has()
    {
        string[] pages = [.. Repository.Documents.Where(file => Repository.Relative(file).StartsWith("docs/compare/", StringComparison.Ordinal) && !file.EndsWith("README.md", StringComparison.Ordinal))];

        Assert.Equal(7, pages.Length);
        foreach (string page in pages)
        {
            string text = File.ReadAllText(page);
            string[] headings = [.. text.Split('\n').Where(line => line.StartsWith("## ", StringComparison.Ordinal) && line != "## The same")];
            Assert.True(headings is [var other, var reverse, "## Figures"]
                && other.EndsWith(" and Cairn lacks", StringComparison.Ordinal)
                && reverse.StartsWith("## What Cairn has and ", StringComparison.Ordinal), $"{page}: {string.Join(", ", headings)}");
            Assert.Matches(@"\d+\.\d+", text.Split("\n\n")[1]);
            Assert.True(LinksOf(text).Count(link => link.StartsWith("http", StringComparison.Ordinal)) >= 2, $"{page} links no sources.");
            Assert.Contains("\n    bench/run ", text, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("## The `cairn` tool, on a store", "the-cairn-tool-on-a-store")]
    [InlineData("# Slot (8 bytes) : tag 16", "slot-8-bytes--tag-16")]
    [InlineData("### See [the options](options.md)", "see-the-options")]
    [InlineData("## snake_case stays", "snake_case-stays")]
    public void Anchor_of_a_heading_is_the_one_that_forges_render(string heading, string anchor)
    {
        Assert.Equal([anchor], AnchorsOf(heading));
    }

    [Fact]
    public void Heading_that_repeats_is_distinguished_by_a_number()
    {
        Assert.Equal(["get", "get-1"], AnchorsOf("## get\n\n## get\n"));
    }

    [Fact]
    public void Link_in_a_code_block_is_no_link()
    {
        Assert.Equal(["a.md"], LinksOf("[a](a.md)\n```text\n[b](b.md)\n```\n`[c](c.md)`\n"));
    }

    private static bool Resolves(string document, string link)
    {
        if (link.Contains("://", StringComparison.Ordinal) || link.StartsWith("mailto:", StringComparison.Ordinal))
        {
            return true; // Other sites are not ours to test.
        }

        var parts = link.Split('#', 2);
        var target = parts[0].Length == 0
            ? document
            : Path.GetFullPath(Path.Combine(Path.GetDirectoryName(document)!, Uri.UnescapeDataString(parts[0])));
        if (parts.Length == 1)
        {
            return File.Exists(target) || Directory.Exists(target);
        }

        return File.Exists(target) && AnchorsOf(File.ReadAllText(target)).Contains(parts[1], StringComparer.Ordinal);
    }

    private static IEnumerable<string> LinksOf(string markdown)
    {
        var prose = InlineCode().Replace(CodeBlock().Replace(markdown, ""), "");
        return Link().Matches(prose).Select(match => match.Groups[1].Value)
            .Concat(LinkDefinition().Matches(prose).Select(match => match.Groups[1].Value));
    }

    private static List<string> AnchorsOf(string markdown)
    {
        var anchors = new List<string>();
        var seen = new Dictionary<string, int>(StringComparer.Ordinal);
        foreach (Match heading in Heading().Matches(CodeBlock().Replace(markdown, "")))
        {
            var anchor = AnchorOf(heading.Groups[1].Value);
            seen[anchor] = seen.TryGetValue(anchor, out var repeats) ? repeats + 1 : 0;
            anchors.Add(seen[anchor] == 0 ? anchor : $"{anchor}-{seen[anchor]}");
        }

        anchors.AddRange(ExplicitAnchor().Matches(markdown).Select(match => match.Groups[1].Value));
        return anchors;
    }

    // Lower case; spaces become hyphens; punctuation but hyphens and underscores goes; a link counts as its text.
    private static string AnchorOf(string heading)
    {
        var anchor = new StringBuilder();
        foreach (var rune in LinkWithText().Replace(heading.Trim(), "$1").EnumerateRunes())
        {
            if (Rune.IsLetterOrDigit(rune) || rune.Value is '-' or '_')
            {
                anchor.Append(Rune.ToLowerInvariant(rune));
            }
            else if (rune.Value == ' ')
            {
                anchor.Append('-');
            }
        }

        return anchor.ToString();
    }

    [GeneratedRegex(@"^ *(`{3,}|~{3,})[^\n]*\n.*?^ *\1`* *$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex CodeBlock();

    [GeneratedRegex(@"^( {4}|\t|<!--).*$", RegexOptions.Multiline)]
    private static partial Regex IndentedLine();

    [GeneratedRegex(@"(?<=[.:;?!])\**\s+|\n\s*\n|\n(?=[-*#\d])|\|")]
    private static partial Regex Sentence();

    [GeneratedRegex(@"\b[A-Za-z][A-Za-z'-]*")]
    private static partial Regex Word();

    [GeneratedRegex(@"!\[([^\]]*)\]\(([^)\s]+)\)")]
    private static partial Regex Picture();

    [GeneratedRegex("fill=\"(#fff|#ffffff|white)\"")]
    private static partial Regex WhiteGround();

    [GeneratedRegex(@"(`+)[^`\n]+\1")]
    private static partial Regex InlineCode();

    [GeneratedRegex(@"\]\(\s*<?([^)\s>]+)>?(?:\s+""[^""]*"")?\s*\)")]
    private static partial Regex Link();

    [GeneratedRegex(@"^\[[^\]\n]+\]:\s*(\S+)", RegexOptions.Multiline)]
    private static partial Regex LinkDefinition();

    [GeneratedRegex(@"\[([^\]]*)\]\([^)]*\)")]
    private static partial Regex LinkWithText();

    [GeneratedRegex(@"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", RegexOptions.Multiline)]
    private static partial Regex Heading();

    [GeneratedRegex(@"<a\s+(?:id|name)=""([^""]+)""")]
    private static partial Regex ExplicitAnchor();
}
