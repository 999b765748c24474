using System.Globalization;
using Cairn.TortureTests.Workloads;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Damage;

/// <summary>
/// Damages files of stores at random and opens them in another process. That process reads nothing, or values that were once written for the key. It
/// refuses a file that it cannot open with a documented exception. It neither crashes nor hangs.
/// </summary>
public sealed class RandomDamageTests(ITestOutputHelper output)
{
    private static readonly TimeSpan LongestSilence = TimeSpan.FromMinutes(1);

    [Fact]
    public void Damaged_store_gives_misses_or_a_clear_error_and_never_a_crash_or_a_wrong_value()
    {
        var run = new TortureRun(output);
        using var directory = new StoreDirectory();
        using ChildProcess child = ChildProcess.Start(
            typeof(Program), "damage-seeds", directory.Path, $"{run.Seed}", $"{TortureRun.Count(120, 50_000)}");
        using var watch = new SilenceWatch(child, LongestSilence);
        int seed = run.Seed;
        var faults = new List<string>();
        string? line;
        while ((line = watch.TryReadLine()) is not null && !line.StartsWith("done", StringComparison.Ordinal))
        {
            if (line.StartsWith("seed ", StringComparison.Ordinal))
            {
                seed = int.Parse(line.AsSpan(5), CultureInfo.InvariantCulture);
            }
            else
            {
                faults.Add($"{line}\nAgain: {run.ReplayOf(seed)}");
            }
        }

        Assert.True(line is not null, $"{watch.Cause} at seed {seed}. Again: {run.ReplayOf(seed)}");
        Assert.True(faults.Count == 0, $"{faults.Count} faults:\n{string.Join('\n', faults.Take(3))}");
        output.WriteLine(line);
    }
}
