using System.Net;

namespace Cairn.DocumentSite;

/// <summary>What stands around every page.</summary>
internal sealed class PageTemplate(Page page, string navigation)
{
    /// <summary>Stands for the way from a page to the site's root.</summary>
    public const string Root = "\u0001";

    public override string ToString()
    {
        string root = string.Concat(Enumerable.Repeat("../", page.Target.Count(c => c == '/')));
        string here = $"<a href=\"{Root}{page.Target}\"";
        string links = navigation.Replace(here, here + " aria-current=\"page\"", StringComparison.Ordinal).Replace(Root, root, StringComparison.Ordinal);
        string sections = page.Sections.Count < 3 ? "" : $"""
            <nav class="sections" aria-label="On this page">
            <h2>On this page</h2>
            <ul>
            {string.Join('\n', page.Sections.Select(s => $"<li><a href=\"#{s.Anchor}\">{WebUtility.HtmlEncode(s.Text)}</a></li>"))}
            </ul>
            </nav>
            """;
        string title = page.Target == "index.html" ? "Cairn" : $"{WebUtility.HtmlEncode(page.Title)} · Cairn";
        return $"""
            <!DOCTYPE html>
            <html lang="en" data-root="{root}">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>{title}</title>
            <link rel="icon" href="{root}assets/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="{root}assets/site.css">
            <script src="{root}assets/site.js" defer></script>
            </head>
            <body>
            <a class="skip" href="#content">To the content</a>
            <header>
            <a class="home" href="{root}index.html"><img src="{root}assets/icon.svg" alt="" width="28" height="28"> Cairn</a>
            <div class="search" role="search">
            <input type="search" id="search" placeholder="Search" aria-label="Search the documents" autocomplete="off" disabled>
            <ol id="found" hidden></ol>
            </div>
            <button id="colours" type="button" hidden>Dark</button>
            <button id="menu" type="button" aria-expanded="false" aria-controls="pages" hidden>Menu</button>
            </header>
            <div class="columns">
            <nav id="pages" class="pages" aria-label="Documents">
            {links}</nav>
            <main id="content">
            {page.Body}</main>
            {sections}
            </div>
            </body>
            </html>

            """;
    }
}
