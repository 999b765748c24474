namespace Cairn.ConventionTests;

/// <summary>The difference between two texts as lines that went (-), came (+), or stand beside those.</summary>
internal static class LineDifference
{
    private const int ContextLines = 2;

    public static IReadOnlyList<string> Between(IReadOnlyList<string> before, IReadOnlyList<string> after)
    {
        // common[i, j] is the length of the longest common subsequence of before[i..] and after[j..].
        var common = new int[before.Count + 1, after.Count + 1];
        for (var i = before.Count - 1; i >= 0; i--)
        {
            for (var j = after.Count - 1; j >= 0; j--)
            {
                common[i, j] = before[i] == after[j] ? common[i + 1, j + 1] + 1 : Math.Max(common[i + 1, j], common[i, j + 1]);
            }
        }

        var lines = new List<(char Mark, string Text)>();
        for (int i = 0, j = 0; i < before.Count || j < after.Count;)
        {
            if (i < before.Count && j < after.Count && before[i] == after[j])
            {
                lines.Add((' ', before[i++]));
                j++;
            }
            else if (j == after.Count || (i < before.Count && common[i + 1, j] >= common[i, j + 1]))
            {
                lines.Add(('-', before[i++]));
            }
            else
            {
                lines.Add(('+', after[j++]));
            }
        }

        return [.. lines.Where((_, index) => IsNearChange(lines, index)).Select(line => $"{line.Mark} {line.Text}")];
    }

    private static bool IsNearChange(List<(char Mark, string Text)> lines, int index)
    {
        var first = Math.Max(0, index - ContextLines);
        var last = Math.Min(lines.Count - 1, index + ContextLines);
        return lines[first..(last + 1)].Exists(line => line.Mark != ' ');
    }
}
