namespace Cairn.Platform;

/// <summary>
/// Hidden names of files that do not have their own name yet. While such a file has this name, its creator holds the lock of its creator byte. So a process
/// that gets that lock knows that the creator is dead.
/// </summary>
internal static class TemporaryNames
{
    private const string Suffix = ".creating";

    /// <summary>Returns a path with a name that no other creation has and that <see cref="Find"/> recognizes.</summary>
    public static string Create(string directory, string nameHint) =>
        Path.Combine(
            directory, Prefix(nameHint) + Random.Shared.NextInt64().ToString("x16", CultureInfo.InvariantCulture) + Suffix);

    /// <summary>Returns the paths of all files that were created for this name and do not have it yet, by living and dead processes.</summary>
    public static IEnumerable<string> Find(string directory, string nameHint) => FindBetween(directory, Prefix(nameHint), Suffix);

    /// <summary>Returns the paths of the files whose names begin and end like this. Empty if the directory cannot be listed.</summary>
    public static IEnumerable<string> FindBetween(string directory, string prefix, string suffix)
    {
        try
        {
            var all = new EnumerationOptions { AttributesToSkip = FileAttributes.None, MatchType = MatchType.Simple };
            return Directory.GetFiles(directory, "*" + suffix, all)
                .Where(path => Path.GetFileName(path).StartsWith(prefix, StringComparison.Ordinal));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return []; // If something is wrong, the creation itself reports it.
        }
    }

    // A name can have 255 bytes. A hint that is too long is cut. In the worst case two hints then share a prefix.
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
