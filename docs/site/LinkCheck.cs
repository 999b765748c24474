using System.Net;
using System.Text.RegularExpressions;

namespace Cairn.DocumentSite;

/// <summary>Looks for links of the made pages that lead nowhere: to no file, or to no element of one.</summary>
internal static partial class LinkCheck
{
    public static IReadOnlyList<string> FindBroken(string site)
    {
        site = Path.GetFullPath(site);
        var pages = Directory.GetFiles(site, "*.html", SearchOption.AllDirectories).ToDictionary(file => file, File.ReadAllText, StringComparer.Ordinal);
        var anchors = pages.ToDictionary(
            page => page.Key, page => Anchor().Matches(page.Value).Select(match => match.Groups[1].Value).ToHashSet(StringComparer.Ordinal), StringComparer.Ordinal);
        return
        [
            .. from page in pages
               from match in Link().Matches(page.Value)
               let link = WebUtility.HtmlDecode(match.Groups[1].Value)
               where !link.Contains("://", StringComparison.Ordinal) && !link.StartsWith("mailto:", StringComparison.Ordinal)
               where !LeadsSomewhere(page.Key, link, anchors)
               select $"{Path.GetRelativePath(site, page.Key)}: {link}",
        ];
    }

    private static bool LeadsSomewhere(string page, string link, Dictionary<string, HashSet<string>> anchors)
    {
        string[] parts = link.Split('#', 2);
        string target = parts[0].Length == 0 ? page : Path.GetFullPath(Path.Combine(Path.GetDirectoryName(page)!, Uri.UnescapeDataString(parts[0])));
        return parts.Length == 1 ? File.Exists(target) : anchors.TryGetValue(target, out var there) && there.Contains(parts[1]);
    }

    [GeneratedRegex("""\s(?:href|src)="([^"]*)"(?=[^<]*>)""")]
    private static partial Regex Link();

    [GeneratedRegex("""\s(?:id|name)="([^"]+)"(?=[^<]*>)""")]
    private static partial Regex Anchor();
}
