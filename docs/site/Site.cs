using System.Net;
using System.Reflection;
using System.Text;
using System.Text.Json;
using Markdig;
using Markdig.Extensions.AutoIdentifiers;
using Markdig.Renderers.Html;
using Markdig.Syntax;
using Markdig.Syntax.Inlines;

namespace Cairn.DocumentSite;

// The pages are the documents that can be reached: README.md first, then what it links to, and so on. A link to a document becomes a link
// to its page; one to another file of the repository, such as a unit of systemd, a page that shows the file. So the site is whole in itself.
internal sealed class Site
{
    private static readonly string[] FirstDocuments = ["README.md", "docs/README.md"];
    private static readonly string[] Images = [".svg", ".png"];

    private readonly MarkdownPipeline _pipeline = new MarkdownPipelineBuilder()
        .UseAutoIdentifiers(AutoIdentifierOptions.GitHub).UsePipeTables().UseAutoLinks().Build();

    private readonly string _root;
    private readonly Dictionary<string, Page> _pages = new(StringComparer.Ordinal);
    private readonly HashSet<string> _images = new(StringComparer.Ordinal);
    private readonly Queue<string> _toDo = new();
    private readonly HashSet<string> _seen = new(StringComparer.Ordinal);

    /// <summary>Reads the documents of the repository at <paramref name="root"/>.</summary>
    public Site(string root)
    {
        _root = Path.GetFullPath(root);
        foreach (string document in FirstDocuments)
        {
            Reach(document);
        }

        while (_toDo.TryDequeue(out string? source))
        {
            _pages[source] = source.EndsWith(".md", StringComparison.Ordinal) ? ReadDocument(source)
                : source.EndsWith('/') ? ReadFolder(source)
                : ReadFile(source);
        }
    }

    public IReadOnlyCollection<Page> Pages => _pages.Values;

    /// <summary>Writes every page, and what they share.</summary>
    public void WriteTo(string output)
    {
        if (Directory.Exists(output))
        {
            Directory.Delete(output, recursive: true);
        }

        string navigation = Navigation();
        foreach (Page page in _pages.Values)
        {
            Write(output, page.Target, new PageTemplate(page, navigation).ToString());
        }

        foreach (string image in _images)
        {
            string target = Path.Combine(output, image);
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.Copy(Path.Combine(_root, image), target);
        }

        Write(output, "assets/site.css", Asset("site.css"));
        Write(output, "assets/site.js", Asset("site.js"));
        Write(output, "assets/icon.svg", File.ReadAllText(Path.Combine(_root, "docs/images/icon.svg")));
        Write(output, "assets/pages.js", $"window.cairnPages = {SearchIndex()};\n");
    }

    private static void Write(string output, string name, string content)
    {
        string path = Path.Combine(output, name);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, content);
    }

    private static string Asset(string name)
    {
        using var reader = new StreamReader(Assembly.GetExecutingAssembly().GetManifestResourceStream(name)!);
        return reader.ReadToEnd();
    }

    private static string TargetOf(string source) => source switch
    {
        "README.md" => "index.html",
        _ when source.EndsWith("README.md", StringComparison.Ordinal) => source[..^"README.md".Length] + "index.html",
        _ when source.EndsWith(".md", StringComparison.Ordinal) => source[..^".md".Length] + ".html",
        _ when source.EndsWith('/') => source + "index.html",
        _ => source + ".html",
    };

    private static string TextOf(ContainerInline? inlines)
    {
        var text = new StringBuilder();
        foreach (var inline in inlines?.Descendants() ?? [])
        {
            text.Append(inline switch
            {
                LiteralInline literal => literal.Content.ToString(),
                CodeInline code => code.Content,
                LineBreakInline => " ",
                _ => "",
            });
        }

        return text.ToString();
    }

    private void Reach(string source)
    {
        if (_seen.Add(source))
        {
            _toDo.Enqueue(source);
        }
    }

    private Page ReadDocument(string source)
    {
        MarkdownDocument document = Markdown.Parse(File.ReadAllText(Path.Combine(_root, source)), _pipeline);
        foreach (var link in document.Descendants<LinkInline>())
        {
            link.Url = Follow(source, link.Url ?? "");
        }

        var headings = document.Descendants<HeadingBlock>().ToList();
        string title = headings.Find(heading => heading.Level == 1) is { } first ? TextOf(first.Inline) : source;
        var sections = headings.Where(heading => heading.Level == 2)
            .Select(heading => (TextOf(heading.Inline), heading.GetAttributes().Id ?? "")).ToList();

        using var html = new StringWriter();
        var renderer = new Markdig.Renderers.HtmlRenderer(html);
        renderer.ObjectRenderers.ReplaceOrAdd<CodeBlockRenderer>(new ColouredCodeRenderer());
        _pipeline.Setup(renderer);
        renderer.Render(document);

        string text = string.Join(' ', document.Descendants<LeafBlock>().Select(leaf => leaf is CodeBlock code ? code.Lines.ToString() : TextOf(leaf.Inline)));
        return new Page(source, TargetOf(source), title, html.ToString(), sections, text);
    }

    private Page ReadFile(string source)
    {
        string content = File.ReadAllText(Path.Combine(_root, source));
        string body = $"<h1>{WebUtility.HtmlEncode(source)}</h1>\n<pre><code>{Colours.Of(Colours.LanguageOf(source), content)}</code></pre>\n";
        return new Page(source, TargetOf(source), source, body, [], content);
    }

    private Page ReadFolder(string source)
    {
        var links =
            from file in Directory.GetFiles(Path.Combine(_root, source)).Order(StringComparer.Ordinal)
            let name = Path.GetFileName(file)
            select $"<li><a href=\"{WebUtility.HtmlEncode(Follow(source + "README.md", name))}\">{WebUtility.HtmlEncode(name)}</a></li>";
        return new Page(source, TargetOf(source), source, $"<h1>{WebUtility.HtmlEncode(source)}</h1>\n<ul>\n{string.Join('\n', links)}\n</ul>\n", [], source);
    }

    // Where a link of a document leads within the site. What is not there stays as it is, for the check to find.
    private string Follow(string source, string link)
    {
        if (link.Length == 0 || link[0] == '#' || link.Contains("://", StringComparison.Ordinal) || link.StartsWith("mailto:", StringComparison.Ordinal))
        {
            return link;
        }

        string[] parts = link.Split('#', 2);
        string path = Path.GetFullPath(Path.Combine(_root, Path.GetDirectoryName(source)!, Uri.UnescapeDataString(parts[0])));
        bool isFolder = Directory.Exists(path);
        if (isFolder && File.Exists(Path.Combine(path, "README.md")))
        {
            path = Path.Combine(path, "README.md");
            isFolder = false;
        }

        if (!isFolder && !File.Exists(path))
        {
            return link;
        }

        string target = Path.GetRelativePath(_root, path) + (isFolder ? "/" : "");
        if (Images.Contains(Path.GetExtension(target), StringComparer.Ordinal))
        {
            _images.Add(target);
        }
        else
        {
            Reach(target);
            target = TargetOf(target);
        }

        string relative = Path.GetRelativePath(Path.GetDirectoryName("/" + TargetOf(source))!, "/" + target);
        return parts.Length == 1 ? relative : $"{relative}#{parts[1]}";
    }

    // docs/README.md lists all documents under headings; the navigation is that list. A hyphen stands for the way to the root.
    private string Navigation()
    {
        var html = new StringBuilder();
        MarkdownDocument index = Markdown.Parse(File.ReadAllText(Path.Combine(_root, "docs/README.md")), _pipeline);
        foreach (Block block in index)
        {
            if (block is ParagraphBlock heading && heading.Inline?.FirstChild is EmphasisInline)
            {
                html.Append("<h2>").Append(WebUtility.HtmlEncode(TextOf(heading.Inline))).Append("</h2>\n");
            }
            else if (block is ListBlock list)
            {
                html.Append("<ul>\n");
                foreach (var link in list.Descendants<LinkInline>())
                {
                    string target = Follow("docs/README.md", link.Url!).Split('#')[0];
                    string page = Path.GetRelativePath("/", Path.GetFullPath(Path.Combine("/docs", target)));
                    string name = TextOf(link);
                    html.Append($"<li><a href=\"{PageTemplate.Root}{page}\">{WebUtility.HtmlEncode(char.ToUpperInvariant(name[0]) + name[1..])}</a></li>\n");
                }

                html.Append("</ul>\n");
            }
        }

        return html.ToString();
    }

    private string SearchIndex() => JsonSerializer.Serialize(
        _pages.Values.Where(page => page.Source.EndsWith(".md", StringComparison.Ordinal)).OrderBy(page => page.Target, StringComparer.Ordinal)
            .Select(page => new
            {
                title = page.Title,
                page = page.Target,
                sections = page.Sections.Select(section => new[] { section.Text, section.Anchor }),
                text = string.Join(' ', page.Text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)),
            }));
}
