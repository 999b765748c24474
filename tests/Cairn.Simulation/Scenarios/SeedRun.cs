using System.Diagnostics;
using System.Globalization;

namespace Cairn.Simulation.Scenarios;

/// <summary>Runs seeds one after the other.</summary>
internal sealed class SeedRun(Func<ulong, Scenario> scenarioOf)
{
    private readonly long _startedAt = Stopwatch.GetTimestamp();
    private double _virtualSeconds;
    private long _events;
    private long _reads;
    private long _longestStaleness;

    public int Seeds { get; private set; }

    public TimeSpan Taken => Stopwatch.GetElapsedTime(_startedAt);

    /// <summary>Runs a seed. Returns null, or the description of the rule that it breaks: the smallest scenario and its history.</summary>
    public string? Run(ulong seed, int twin = 0)
    {
        Scenario scenario = scenarioOf(seed);
        Outcome outcome = Simulation.Run(scenario, keepsHistory: false, twin);
        Seeds++;
        _virtualSeconds += outcome.VirtualSeconds;
        _events += outcome.Events;
        _reads += outcome.Reads;
        _longestStaleness = Math.Max(_longestStaleness, outcome.LongestStaleness);
        return outcome.Finding is { } finding ? Describe(Shrinker.Shrink(scenario, finding.Rule, twin), twin) : null;
    }

    /// <summary>Returns the speed, and what the rules have seen.</summary>
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Seeds} seeds in {Taken.TotalSeconds:0.0} s: {_virtualSeconds / Taken.TotalSeconds:0} times real time, {_events / Taken.TotalSeconds:0} events a second, "
        + $"{_reads} reads, the longest staleness {_longestStaleness / (double)TimeSpan.TicksPerSecond:0.000} s");

    /// <summary>Describes a run: what it found, the scenario, and the last lines of its history.</summary>
    public static string Describe(Scenario scenario, int twin, int shown = 200)
    {
        Outcome outcome = Simulation.Run(scenario, keepsHistory: true, twin);
        string repeat = $"Shrunk from seed {scenario.Seed}; repeat it with CAIRN_SIMULATION_SEED={scenario.Seed} ./test simulation";
        return FailingRun.Describe(outcome.Finding?.ToString(), repeat, scenario.ToString(), outcome.History, shown);
    }
}
