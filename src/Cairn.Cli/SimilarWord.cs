namespace Cairn.Cli;

/// <summary>Finds the word that a misspelt word probably means.</summary>
internal static class SimilarWord
{
    /// <summary>Returns the candidate most similar to a word; null if none is similar.</summary>
    /// <param name="word">The misspelt word.</param>
    /// <param name="candidates">The known words, in lower case.</param>
    public static string? Find(string word, IEnumerable<string> candidates)
    {
        // Two edits turn a short word into any other, and one edit a single letter.
        int letters = word.TrimStart('-').Length;
        if (letters < 2)
        {
            return null;
        }

        int mostEdits = letters < 5 ? 1 : 2;
        word = word.ToLowerInvariant();
        return candidates
            .Select(candidate => (candidate, edits: candidate.StartsWith(word, StringComparison.Ordinal) ? 1 : Edits(word, candidate)))
            .Where(pair => pair.edits <= mostEdits)
            .OrderBy(pair => pair.edits)
            .Select(pair => pair.candidate)
            .FirstOrDefault();
    }

    // Returns the number of edits: letters added, removed, changed, or swapped with their neighbour (optimal string alignment).
    private static int Edits(string source, string target)
    {
        var edits = new int[source.Length + 1, target.Length + 1];
        for (int i = 0; i <= source.Length; i++)
        {
            for (int j = 0; j <= target.Length; j++)
            {
                if (i == 0 || j == 0)
                {
                    edits[i, j] = i + j;
                    continue;
                }

                int changed = edits[i - 1, j - 1] + (source[i - 1] == target[j - 1] ? 0 : 1);
                edits[i, j] = Math.Min(changed, 1 + Math.Min(edits[i - 1, j], edits[i, j - 1]));
                if (i > 1 && j > 1 && source[i - 1] == target[j - 2] && source[i - 2] == target[j - 1])
                {
                    edits[i, j] = Math.Min(edits[i, j], edits[i - 2, j - 2] + 1);
                }
            }
        }

        return edits[source.Length, target.Length];
    }
}
