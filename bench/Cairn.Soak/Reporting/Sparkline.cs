namespace Cairn.Soak.Reporting;

/// <summary>A curve in one line of text.</summary>
internal static class Sparkline
{
    private const string Levels = "▁▂▃▄▅▆▇█";

    /// <summary>Draws the values between <paramref name="least"/> and <paramref name="most"/>. It averages values if they are more than columns.</summary>
    public static string Of(IReadOnlyList<double> values, double least, double most, int columns = 60)
    {
        int width = Math.Min(columns, values.Count);
        Span<char> line = stackalloc char[width];
        for (int column = 0; column < width; column++)
        {
            int from = column * values.Count / width;
            int to = (column + 1) * values.Count / width;
            double sum = 0;
            for (int i = from; i < to; i++)
            {
                sum += values[i];
            }

            double share = most > least ? ((sum / (to - from)) - least) / (most - least) : 0;
            line[column] = Levels[Math.Clamp((int)(share * Levels.Length), 0, Levels.Length - 1)];
        }

        return new string(line);
    }
}
