using System.Net;
using System.Text;
using System.Text.RegularExpressions;

namespace Cairn.DocumentSite;

/// <summary>Marks comments, text, keywords and numbers in code, by patterns: enough to read by, and never wrong about the text itself.</summary>
internal static partial class Colours
{
    private static readonly string[] Names = ["comment", "text", "keyword", "number", "prompt"];

    /// <summary>The language of a file, by its name.</summary>
    public static string LanguageOf(string file) => Path.GetExtension(file) switch
    {
        ".cs" => "csharp",
        ".json" => "json",
        ".sql" => "sql",
        ".pml" => "csharp",
        _ => "sh",
    };

    /// <summary>The code as HTML.</summary>
    public static string Of(string language, string code)
    {
        Regex? pattern = language switch
        {
            "csharp" => CSharp(),
            "json" => Json(),
            "sql" => Sql(),
            "sh" or "ini" or "yaml" => Shell(),
            "console" => Terminal(),
            _ => null,
        };
        if (pattern is null)
        {
            return WebUtility.HtmlEncode(code);
        }

        var html = new StringBuilder();
        int done = 0;
        foreach (Match match in pattern.Matches(code))
        {
            string name = Names.First(name => match.Groups[name].Success);
            html.Append(WebUtility.HtmlEncode(code[done..match.Index]))
                .Append("<span class=\"c-").Append(name).Append("\">").Append(WebUtility.HtmlEncode(match.Value)).Append("</span>");
            done = match.Index + match.Length;
        }

        return html.Append(WebUtility.HtmlEncode(code[done..])).ToString();
    }

    [GeneratedRegex("""
        (?<comment>//[^\n]*|/\*.*?\*/)|(?<text>"{3}.*?"{3}|\$?@?"(?:\\.|[^"\\\n])*"(?:u8)?|'(?:\\.|[^'\\\n])+')|(?<keyword>\b(?:abstract|as|async|await|base|bool|break|byte|case|catch|class|const|continue|default|do|double|else|enum|false|finally|for|foreach|get|if|in|init|int|interface|internal|is|lock|long|namespace|new|null|object|out|override|params|partial|private|protected|public|readonly|record|ref|required|return|sealed|set|short|stackalloc|static|string|struct|switch|this|throw|true|try|typeof|uint|ulong|using|var|virtual|void|when|while|with|yield)\b)|(?<number>\b\d[\d_]*(?:\.\d+)?[mMfFdDLlu]*\b)
        """, RegexOptions.Singleline)]
    private static partial Regex CSharp();

    [GeneratedRegex("""(?<text>"(?:\\.|[^"\\])*")|(?<keyword>\b(?:true|false|null)\b)|(?<number>-?\b\d+(?:\.\d+)?\b)""")]
    private static partial Regex Json();

    [GeneratedRegex("""(?<comment>--[^\n]*)|(?<text>'[^']*')|(?<keyword>\b[A-Z]{2,}\b)|(?<number>\b\d+\b)""")]
    private static partial Regex Sql();

    [GeneratedRegex("""(?<comment>(?<=^|\s)\#[^\n]*)|(?<text>"(?:\\.|[^"\\\n])*"|'[^'\n]*')|(?<keyword>(?<=\s)--?[A-Za-z][\w-]*)""", RegexOptions.Multiline)]
    private static partial Regex Shell();

    [GeneratedRegex("""(?<prompt>^\$ [^\n]*)""", RegexOptions.Multiline)]
    private static partial Regex Terminal();
}
