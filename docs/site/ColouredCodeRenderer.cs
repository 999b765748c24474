using Markdig.Renderers;
using Markdig.Renderers.Html;
using Markdig.Syntax;

namespace Cairn.DocumentSite;

/// <summary>Code blocks with colours.</summary>
internal sealed class ColouredCodeRenderer : HtmlObjectRenderer<CodeBlock>
{
    protected override void Write(HtmlRenderer renderer, CodeBlock obj)
    {
        string language = obj is FencedCodeBlock { Info: { } info } ? info : "";

        // A block that is wider than a phone scrolls, so those who have only a keyboard must be able to reach it.
        renderer.EnsureLine().Write("<pre tabindex=\"0\"><code>").Write(Colours.Of(language, obj.Lines.ToString())).Write("\n</code></pre>\n");
    }
}
