namespace Cairn.Cli.Load;

/// <summary>Counts the errors in replies by their text. Safe from any thread.</summary>
internal sealed class ServerErrors
{
    private const int MostTexts = 100;
    private const int MostCharacters = 120;
    private const string Others = "(others)";

    private readonly Lock _lock = new();
    private readonly Dictionary<string, long> _counts = new(StringComparer.Ordinal);

    /// <summary>Counts an error.</summary>
    /// <param name="line">The line from the server.</param>
    public void Count(ReadOnlySpan<byte> line)
    {
        line = line[..Math.Min(line.Length, MostCharacters)];
        Span<char> text = stackalloc char[MostCharacters];
        text = text[..Encoding.Latin1.GetChars(line, text)];
        for (int i = 0; i < text.Length; i++)
        {
            // The text is printed on terminals, so control characters are replaced.
            text[i] = char.IsControl(text[i]) ? '?' : text[i];
        }

        lock (_lock)
        {
            var known = _counts.GetAlternateLookup<ReadOnlySpan<char>>();
            if (known.TryGetValue(text, out long count))
            {
                known[text] = count + 1;
            }
            else
            {
                string key = _counts.Count < MostTexts ? text.ToString() : Others;
                _counts[key] = _counts.GetValueOrDefault(key) + 1;
            }
        }
    }

    /// <summary>Returns all errors so far, the most frequent first.</summary>
    public IReadOnlyList<KeyValuePair<string, long>> List()
    {
        lock (_lock)
        {
            return [.. _counts.OrderByDescending(pair => pair.Value).ThenBy(pair => pair.Key, StringComparer.Ordinal)];
        }
    }
}
