namespace Cairn.Testing;

/// <summary>The search for the smallest run that fails, and its report. For runs that follow from a seed, a scenario or an order of steps.</summary>
internal static class FailingRun
{
    /// <summary>Returns the smallest failing run found: as long as there is a smaller one that fails too, that one takes its place.</summary>
    /// <param name="run">A run that fails.</param>
    /// <param name="smallerThan">Returns smaller runs, those that leave out most first.</param>
    /// <param name="tryRun">Runs one. Returns it as it was, if it fails and is smaller; otherwise null.</param>
    public static T Shrink<T>(T run, Func<T, IEnumerable<T>> smallerThan, Func<T, T, T?> tryRun)
        where T : class
    {
        while (smallerThan(run).Select(candidate => tryRun(candidate, run)).FirstOrDefault(smaller => smaller is not null) is { } smaller)
        {
            run = smaller;
        }

        return run;
    }

    /// <summary>Describes a run: what failed, how to repeat it, what it is made of, and the last lines of its history.</summary>
    public static string Describe(string? fault, string repeat, string run, string history, int shown = 200)
    {
        string[] lines = history.Split('\n');
        string left = lines.Length > shown ? $"({lines.Length - shown} lines before)\n" : "";
        return $"{fault}\n{repeat}\n{run}{left}{string.Join('\n', lines.TakeLast(shown))}";
    }
}
