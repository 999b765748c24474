namespace Cairn.Cli.Clients;

/// <summary>Reads the lines in which a server reports the requests of its clients.</summary>
internal static class WatchedRequest
{
    private static readonly string[] _readsOfOneKey = ["get", "getex", "getdel", "getrange", "strlen", "hget", "hgetall", "hmget"];

    /// <summary>Returns the keys that a line of memcached's <c>watch fetchers</c> names, as they are written there.</summary>
    public static IReadOnlyList<string> KeysOfFetch(string line)
    {
        const string Mark = " type=item_get key=";
        int start = line.IndexOf(Mark, StringComparison.Ordinal);
        if (start < 0)
        {
            return [];
        }

        string rest = line[(start + Mark.Length)..];
        int end = rest.IndexOf(' ', StringComparison.Ordinal);
        return [end < 0 ? rest : rest[..end]];
    }

    /// <summary>Returns the number of requests that a server has left out before a line of <c>watch</c>; 0 for none.</summary>
    public static long SkippedBefore(string line) =>
        line.StartsWith("skipped=", StringComparison.Ordinal) && long.TryParse(line.AsSpan("skipped=".Length), out long skipped) ? skipped : 0;

    /// <summary>Returns the keys that a command in a line of Redis' <c>MONITOR</c> reads, as they are written there.</summary>
    public static IReadOnlyList<string> KeysOfCommand(string line)
    {
        List<string> words = WordsIn(line);
        return words.Count < 2 ? []
            : words[0].Equals("mget", StringComparison.OrdinalIgnoreCase) ? [.. words.Skip(1)]
            : _readsOfOneKey.Contains(words[0], StringComparer.OrdinalIgnoreCase) ? [words[1]]
            : [];
    }

    // The words are in quotation marks, in which \" is a quotation mark.
    private static List<string> WordsIn(string line)
    {
        var words = new List<string>();
        int start = line.IndexOf('"', StringComparison.Ordinal);
        while (start >= 0)
        {
            int end = start + 1;
            while (end < line.Length && line[end] != '"')
            {
                end += line[end] == '\\' ? 2 : 1;
            }

            if (end >= line.Length)
            {
                break;
            }

            words.Add(line[(start + 1)..end]);
            start = line.IndexOf('"', end + 1);
        }

        return words;
    }
}
