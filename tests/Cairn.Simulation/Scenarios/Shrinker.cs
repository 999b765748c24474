namespace Cairn.Simulation.Scenarios;

/// <summary>Makes a scenario that breaks a rule as small as it can: fewer failures, fewer machines and keys, a shorter time.</summary>
internal static class Shrinker
{
    /// <summary>Returns the smallest scenario found that breaks the same rule.</summary>
    /// <param name="scenario">A scenario that breaks the rule.</param>
    /// <param name="rule">The rule.</param>
    /// <param name="twin">The broken twin that takes part; 0 for none.</param>
    public static Scenario Shrink(Scenario scenario, string rule, int twin = 0) => FailingRun.Shrink(
        scenario, SmallerThan, (smaller, _) => Simulation.Run(smaller, keepsHistory: false, twin).Finding?.Rule == rule ? smaller : null);

    private static IEnumerable<Scenario> SmallerThan(Scenario scenario)
    {
        IReadOnlyList<Fault> faults = scenario.Faults;
        for (int size = faults.Count; size > 0; size /= 2)
        {
            for (int start = 0; start < faults.Count; start += size)
            {
                yield return scenario with { Faults = [.. faults.Where((_, at) => at < start || at >= start + size)] };
            }
        }

        if (scenario.Machines > 1)
        {
            yield return scenario with { Machines = scenario.Machines - 1 };
        }

        if (scenario.Keys > 1)
        {
            yield return scenario with { Keys = scenario.Keys - 1 };
        }

        if (scenario.BusyMs > 1_000)
        {
            int shorter = scenario.BusyMs * 2 / 3;
            yield return scenario with { BusyMs = shorter, Faults = [.. faults.Where(fault => fault.AtMs < shorter)] };
        }

        if (scenario.CallIntervalMs < 500)
        {
            yield return scenario with { CallIntervalMs = scenario.CallIntervalMs * 2 };
        }
    }
}
