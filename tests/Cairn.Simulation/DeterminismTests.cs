namespace Cairn.Simulation;

/// <summary>A seed is all that a run depends on.</summary>
public sealed class DeterminismTests
{
    [Theory]
    [InlineData("", 3)]
    [InlineData("", 11)]
    [InlineData("", 30)]
    [InlineData("", 79)]
    [InlineData("cairn", 3)]
    [InlineData("cairn", 4)]
    public void Two_processes_write_the_same_history_of_a_seed(string server, int seed)
    {
        Scenarios.Scenario scenario = server.Length > 0 ? Scenarios.Scenario.OfCairn((ulong)seed) : Scenarios.Scenario.Of((ulong)seed);

        string here = Scenarios.Simulation.Run(scenario, keepsHistory: true).History;
        string there = HistoryInChild(server, seed);

        Assert.True(here.Length > 10_000, here);
        Assert.Equal($"{scenario}{here}No rule is broken.\n", there, StringComparer.Ordinal);
    }

    [Fact]
    public void A_run_writes_the_same_history_after_other_runs_in_its_process()
    {
        var scenario = Scenarios.Scenario.Of(5);
        string first = Scenarios.Simulation.Run(scenario, keepsHistory: true).History;
        Scenarios.Simulation.Run(Scenarios.Scenario.Of(6), keepsHistory: false);

        string second = Scenarios.Simulation.Run(scenario, keepsHistory: true).History;

        Assert.Equal(first, second, StringComparer.Ordinal);
    }

    private static string HistoryInChild(string server, int seed)
    {
        string[] words = server.Length > 0 ? [server, "history", $"{seed}"] : ["history", $"{seed}"];
        using var child = ChildProcess.Start(typeof(DeterminismTests), words);
        var lines = new System.Text.StringBuilder();
        while (child.TryReadLine() is { } line)
        {
            lines.Append(line).Append('\n');
        }

        Assert.Equal(0, child.Finish());
        return lines.ToString();
    }
}
