using System.Globalization;
using System.Text;

namespace Cairn.Platform;

/// <summary>Hidden names of files that are yet to get their own. From its creation on, such a file's creator byte is locked for as long as it
/// has this name, so who gets that lock knows that the creator is dead.</summary>
internal static class TemporaryNames
{
    private const string Suffix = ".creating";

    /// <summary>The path of a name that no other creation has and that <see cref="Find"/> recognises.</summary>
    public static string Create(string directory, string nameHint) =>
        Path.Combine(
            directory, Prefix(nameHint) + Random.Shared.NextInt64().ToString("x16", CultureInfo.InvariantCulture) + Suffix);

    /// <summary>The paths of all files that were made for this name and do not have it yet, by the living and the dead.</summary>
    public static IEnumerable<string> Find(string directory, string nameHint)
    {
        try
        {
            var all = new EnumerationOptions { AttributesToSkip = FileAttributes.None, MatchType = MatchType.Simple };
            string prefix = Prefix(nameHint);
            return Directory.GetFiles(directory, "*" + Suffix, all)
                .Where(path => Path.GetFileName(path).StartsWith(prefix, StringComparison.Ordinal));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return []; // The creation itself will say what is wrong, if anything is.
        }
    }

    // Names may have 255 bytes; a hint too long for the rest to fit is cut, which at worst shares a prefix.
    private static string Prefix(string nameHint)
    {
        string hint = nameHint;
        while (Encoding.UTF8.GetByteCount(hint) > 200)
        {
            hint = hint[..^1];
        }

        return $".{hint}.";
    }
}
