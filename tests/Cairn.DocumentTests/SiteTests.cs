using System.Text.RegularExpressions;
using Cairn.DocumentSite;

namespace Cairn.DocumentTests;

/// <summary>The documentation site.</summary>
public sealed partial class SiteTests : IDisposable
{
    private readonly TestDirectory _output = new();

    public SiteTests() => new Site(RepositoryFile.Root).WriteTo(_output["site"]);

    public void Dispose() => _output.Dispose();

    [Fact]
    public void Every_link_leads_to_a_page_and_a_place_in_it()
    {
        Assert.Empty(LinkCheck.FindBroken(_output["site"]));
    }

    [Fact]
    public void Link_that_leads_nowhere_is_found()
    {
        File.AppendAllText(_output["site/index.html"], """<a href="no.html">x</a><a href="docs/index.html#no">x</a>""");

        Assert.Equal(["index.html: no.html", "index.html: docs/index.html#no"], LinkCheck.FindBroken(_output["site"]));
    }

    [Fact]
    public void Every_document_of_docs_has_a_page()
    {
        var documents = Directory.GetFiles(RepositoryFile.At("docs"), "*.md", SearchOption.AllDirectories)
            .Select(file => Path.GetRelativePath(RepositoryFile.Root, file).Replace("README.md", "index.md", StringComparison.Ordinal));

        var without = documents.Where(document => !File.Exists(_output[$"site/{Path.ChangeExtension(document, ".html")}"]));

        Assert.Empty(without);
    }

    [Fact]
    public void Nothing_is_loaded_from_elsewhere()
    {
        var pages = Directory.GetFiles(_output["site"], "*.html", SearchOption.AllDirectories);

        var loads = pages.SelectMany(page => Loaded().Matches(File.ReadAllText(page))).Select(match => match.Groups[1].Value);

        Assert.NotEmpty(pages);
        Assert.DoesNotContain(loads, url => url.Contains("//", StringComparison.Ordinal));
        Assert.DoesNotContain("url(", File.ReadAllText(_output["site/assets/site.css"]), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("csharp", "var a = \"<b>\"; // c", "<span class=\"c-keyword\">var</span> a = <span class=\"c-text\">&quot;&lt;b&gt;&quot;</span>; <span class=\"c-comment\">// c</span>")]
    [InlineData("sh", "a --b # c", "a <span class=\"c-keyword\">--b</span> <span class=\"c-comment\"># c</span>")]
    [InlineData("text", "a < b", "a &lt; b")]
    public void Code_is_coloured_and_says_what_it_said(string language, string code, string html)
    {
        Assert.Equal(html, Colours.Of(language, code));
    }

    [GeneratedRegex("""<(?:script|img|link)[^>]*\s(?:src|href)="([^"]*)[">]""")]
    private static partial Regex Loaded();
}
