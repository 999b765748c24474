using Cairn.Simulation.Rules;
using Cairn.Simulation.Rewriting;
using Cairn.Simulation.Scenarios;

namespace Cairn.Simulation;

/// <summary>Each rule finds a deliberately broken twin of the code that keeps it.</summary>
public sealed class TwinTests
{
    private const ulong SeedsAtMost = 150;

    // At the same time as these, nothing else fails.
    private static readonly Fault[] s_shortCut = [new(FaultKind.Partition, AtMs: 3_000, ForMs: 1_500, Machine: 0, Amount: 0, Variant: 3)];

    [Theory]
    [InlineData("R1", Twins.ForgetsPendingChanges)]
    [InlineData("R2", Twins.ForgetsOwnChanges)]
    [InlineData("R2", Twins.TrustsSilence)]
    [InlineData("R2", Twins.IgnoresChanges)]
    [InlineData("R3", Twins.SharesLeases)]
    [InlineData("R4", Twins.NeverRetries)]
    [InlineData("R6", Twins.NeverEvicts)]
    [InlineData("R6", Twins.KeepsLeases)]
    [InlineData("R7", Twins.WaitsWithoutLimit)]
    [InlineData("R7", Twins.ForgetsElapsedTime)]
    [InlineData("R8", Twins.BeatsWithoutPause)]
    [InlineData("R9", Twins.KeepsNothingWhileCutOff)]
    internal void A_rule_finds_a_broken_twin(string rule, int twin) => AssertFinds(rule, twin, Scenario.Of);

    [Fact]
    public void Staleness_finds_a_machine_that_ignores_that_it_missed_changes() =>
        AssertFinds("R2", Twins.IgnoresMissed, seed => Scenario.Of(seed) with { Faults = s_shortCut, ChangePercent = 3, CallIntervalMs = 40, BusyMs = 9_000 });

    [Fact]
    public void Staleness_finds_a_machine_that_ignores_that_another_one_cleared_the_cache() => AssertFinds(
        "R2", Twins.IgnoresClears, seed => Scenario.Of(seed) with { Faults = [], Clears = true, ChangePercent = 10, CallIntervalMs = 40, BusyMs = 6_000 });

    [Fact]
    public void Staleness_finds_messages_that_arrive_late_although_nothing_fails() =>
        AssertFinds("R2", Twins.DelaysMessages, seed => Scenario.Of(seed) with { Faults = [], Tracks = true });

    // Values came back that other machines had replaced: two of the causes that a search by real processes found after hours.
    [Fact]
    public void Staleness_finds_a_machine_that_writes_values_without_the_lease_that_it_did_not_get() =>
        AssertFinds("R1", Twins.WritesWithoutAskedLease, seed => Scenario.Of(seed + 380));

    [Fact]
    public void Staleness_finds_a_machine_that_retries_before_messages_arrive_again()
    {
        Finding? found = null;
        for (ulong seed = 1; seed <= 200 && found is null; seed++)
        {
            Scenario scenario = Scenario.Of(seed) with
            {
                Tracks = true,
                Keys = 4,
                ChangePercent = 3,
                CallIntervalMs = 50,
                BusyMs = 9_000,
                MaxPendingWrites = 10_000,
                Faults =
                [
                    new(FaultKind.Partition, AtMs: 2_000, ForMs: 2_500 + (int)(seed % 2_000), Machine: 0, Amount: 0, Variant: 3),
                    new(FaultKind.Latency, AtMs: 2_100, ForMs: 9_000, Machine: 0, Amount: 20_000, Variant: 0),
                ],
            };
            found = Scenarios.Simulation.Run(scenario, keepsHistory: false, Twins.RetriesUnproven).Finding;
        }

        Assert.Contains(found?.Rule, (string?[])["R1", "R2"]);
    }

    // One machine makes most of the changes. The others find their values in memory, so only the channel can tell them that a node was replaced.
    [Theory]
    [InlineData(Twins.TrustsReplacedNodes, FaultKind.Isolate)]
    [InlineData(Twins.ForgetsReplicatedChanges, FaultKind.Failover)]
    internal void Staleness_finds_a_broken_twin_in_a_Cluster(int twin, FaultKind fault) => AssertFinds("R2", twin, seed => Scenario.OfCluster(seed) with
    {
        Shards = 1,
        Keys = 2,
        ChangePercent = 3,
        CallIntervalMs = 40,
        BusyMs = 8_000,
        LocalMaxEntries = 1_000,
        Faults = [new(fault, AtMs: 2_500, ForMs: 8_000, Machine: -1, Amount: 0, Variant: 2)],
    });

    // The old master has the old map. A machine that asks it for the map does not find the new one.
    [Theory]
    [InlineData(0, true)]
    [InlineData(Twins.DoubtsNoNode, false)]
    internal void A_machine_reaches_the_new_master_while_the_old_one_still_replies(int twin, bool isReached)
    {
        Scenario scenario = Scenario.OfCluster(1) with
        {
            Shards = 1,
            ChangePercent = 10,
            CallIntervalMs = 40,
            BusyMs = 9_000,
            Faults = [new(FaultKind.Isolate, AtMs: 2_500, ForMs: 8_000, Machine: -1, Amount: 0, Variant: 0)],
        };

        string history = Scenarios.Simulation.Run(scenario, keepsHistory: true, twin).History;

        string[] lines = history.Split('\n');
        int from = Array.FindIndex(lines, line => line.Contains("takes the place of", StringComparison.Ordinal));
        int to = Array.FindIndex(lines, line => line.Contains("all failures are over", StringComparison.Ordinal));
        Assert.InRange(from, 1, to);
        Assert.Equal(isReached, lines[from..to].Any(line => line.Contains(" server   has version", StringComparison.Ordinal)));
    }

    [Fact]
    public void Staleness_finds_a_server_of_Cairn_that_sends_no_changes() =>
        AssertFinds("R2", Twins.TellsNoChanges, seed => Scenario.OfCairn(seed) with { Tracks = true, Faults = [] });

    [Fact]
    public void Quiet_finds_a_machine_that_makes_its_changes_again_and_again() => AssertFinds(
        "R8", Twins.RepeatsChanges, seed => Scenario.Of(seed) with { Machines = 1, Keys = 1, Faults = [], ChangePercent = 3, CallIntervalMs = 160, BusyMs = 1_000 });

    // The machine that made the changes has the values in memory. Only a machine that starts later can read the old ones.
    [Fact]
    public void Convergence_finds_an_old_value_that_came_back_on_the_server_without_a_message_to_any_machine() => AssertFinds(
        "R2", Twins.RestoresRemoved, seed => Scenario.Of(seed) with { Machines = 1, Faults = [], Keys = 2, Clears = false, LocalMaxEntries = 1_000, ChangePercent = 20 });

    // The first seed that shows it is 67, and the seeds before it take a minute.
    [Fact]
    public void Convergence_finds_a_server_that_hides_simultaneous_changes() => AssertFinds(
        "R5", Twins.HidesSimultaneousChanges, seed => Scenario.Of(seed + 60) with { Machines = 2, Faults = [], Keys = 1, ChangePercent = 60, CallIntervalMs = 4, BusyMs = 1_000 });

    [Fact]
    public void A_failing_seed_is_shrunk_to_fewer_failures_and_machines()
    {
        Scenario scenario = Enumerable.Range(1, 150).Select(seed => Scenario.Of((ulong)seed))
            .First(scenario => scenario.Faults.Count > 2 && Scenarios.Simulation.Run(scenario, keepsHistory: false, Twins.TrustsSilence).Finding is not null);

        Scenario small = Shrinker.Shrink(scenario, "R2", Twins.TrustsSilence);

        Assert.True(small.Faults.Count < scenario.Faults.Count, small.ToString());
        Assert.Equal("R2", Scenarios.Simulation.Run(small, keepsHistory: true, Twins.TrustsSilence).Finding?.Rule);
    }

    private static void AssertFinds(string rule, int twin, Func<ulong, Scenario> scenarioOf)
    {
        Finding? found = null;
        for (ulong seed = 1; seed <= SeedsAtMost && found?.Rule != rule; seed++)
        {
            found = Scenarios.Simulation.Run(scenarioOf(seed), keepsHistory: false, twin).Finding;
        }

        Assert.Equal(rule, found?.Rule);
    }
}
