namespace Cairn.DocumentSite;

/// <summary>A page of the site, made of one file of the repository.</summary>
/// <param name="Source">The file, below the repository's root.</param>
/// <param name="Target">The page, below the site's root.</param>
/// <param name="Title">The first heading, or the file's name.</param>
/// <param name="Body">HTML.</param>
/// <param name="Sections">Headings of the second level: text and anchor.</param>
/// <param name="Text">What search looks through.</param>
internal sealed record Page(
    string Source, string Target, string Title, string Body, IReadOnlyList<(string Text, string Anchor)> Sections, string Text);
