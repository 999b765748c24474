using System.Globalization;
using Cairn.Simulation.Rules;

namespace Cairn.Simulation.Scenarios;

/// <summary>
/// Runs seeds as a program: <c>history SEED [TWIN]</c>, <c>shrink SEED</c>, or <c>seeds FIRST COUNT [TWIN]</c>; with the word <c>cluster</c> before
/// them, seeds of a Cluster, and with the word <c>cairn</c>, seeds of Cairn's own server.
/// </summary>
internal static class SeedCommand
{
    public static int Run(string[] args) => args switch
    {
        ["cluster", .. var rest] => Run(rest, Scenario.OfCluster),
        ["cairn", .. var rest] => Run(rest, Scenario.OfCairn),
        _ => Run(args, Scenario.Of),
    };

    private static int Run(string[] args, Func<ulong, Scenario> scenarioOf)
    {
        switch (args)
        {
            case ["history", var seed, .. var rest]:
                Scenario scenario = scenarioOf(Number(seed));
                Outcome outcome = Simulation.Run(scenario, keepsHistory: true, rest is [var twin] ? (int)Number(twin) : 0);
                Console.Out.Write(scenario);
                Console.Out.Write(outcome.History);
                Console.Out.WriteLine(outcome.Finding?.ToString() ?? "No rule is broken.");
                return 0;
            case ["shrink", var large]:
                Finding? finding = Simulation.Run(scenarioOf(Number(large)), keepsHistory: false).Finding;
                Console.Out.WriteLine(finding is null
                    ? "No rule is broken."
                    : SeedRun.Describe(Shrinker.Shrink(scenarioOf(Number(large)), finding.Rule), twin: 0, shown: int.MaxValue));
                return 0;
            case ["seeds", var first, var count, .. var rest]:
                return RunMany(scenarioOf, Number(first), Number(count), rest is [var broken] ? (int)Number(broken) : 0);
            default:
                Console.Error.WriteLine("Usage: [cluster | cairn] history SEED [TWIN] | [cluster | cairn] shrink SEED | [cluster | cairn] seeds FIRST COUNT [TWIN]");
                return 2;
        }
    }

    private static int RunMany(Func<ulong, Scenario> scenarioOf, ulong first, ulong count, int twin)
    {
        var run = new SeedRun(scenarioOf);
        int broken = 0;
        for (ulong seed = first; seed < first + count; seed++)
        {
            if (run.Run(seed, twin) is { } finding)
            {
                broken++;
                Console.Out.WriteLine(finding);
            }
        }

        Console.Out.WriteLine(run);
        return broken == 0 ? 0 : 1;
    }

    private static ulong Number(string text) => ulong.Parse(text, CultureInfo.InvariantCulture);
}
