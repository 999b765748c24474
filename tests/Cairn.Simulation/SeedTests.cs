using System.Globalization;
using Cairn.Simulation.Scenarios;
using Xunit.Abstractions;

namespace Cairn.Simulation;

/// <summary>
/// No seed breaks a rule (Rules.RuleBook). CAIRN_SIMULATION=long runs 100,000 seeds and continues where it was stopped;
/// CAIRN_SIMULATION_SEED=N runs one seed.
/// </summary>
public sealed class SeedTests(ITestOutputHelper output)
{
    private const ulong Seeds = 1_000;
    private const ulong ManySeeds = 100_000;
    private const ulong ClusterSeeds = 100;

    // Run on a busy machine too, however long they take.
    private const int FewestSeeds = 20;

    private static readonly TimeSpan s_time = TimeSpan.FromSeconds(15);
    // Each, for a Cluster and for Cairn's own server.
    private static readonly TimeSpan s_clusterTime = TimeSpan.FromSeconds(5);

    [Fact]
    public void No_seed_breaks_a_rule()
    {
        if (Environment.GetEnvironmentVariable("CAIRN_SIMULATION_SEED") is { Length: > 0 } one)
        {
            Assert.Null(new SeedRun(Scenario.Of).Run(ulong.Parse(one, CultureInfo.InvariantCulture)));
            return;
        }

        bool isLong = Environment.GetEnvironmentVariable("CAIRN_SIMULATION") == "long";
        string progress = RepositoryFile.At("artifacts/simulation-next-seed");
        ulong seed = isLong && File.Exists(progress) ? ulong.Parse(File.ReadAllText(progress), CultureInfo.InvariantCulture) : 1;
        var run = new SeedRun(Scenario.Of);
        for (; seed <= (isLong ? ManySeeds : Seeds) && (isLong || run.Seeds < FewestSeeds || run.Taken < s_time); seed++)
        {
            if (run.Run(seed) is { } failure)
            {
                Assert.Fail(failure);
            }

            if (isLong && seed % 100 == 0)
            {
                File.WriteAllText(progress, (seed + 1).ToString(CultureInfo.InvariantCulture));
            }
        }

        output.WriteLine(run.ToString());
    }

    [Fact]
    public void No_seed_of_a_Cluster_breaks_a_rule()
    {
        var run = new SeedRun(Scenario.OfCluster);
        for (ulong seed = 1; seed <= ClusterSeeds && (run.Seeds < FewestSeeds || run.Taken < s_clusterTime); seed++)
        {
            Assert.Null(run.Run(seed));
        }

        output.WriteLine(run.ToString());
    }

    [Fact]
    public void No_seed_with_Cairns_own_server_breaks_a_rule()
    {
        var run = new SeedRun(Scenario.OfCairn);
        for (ulong seed = 1; seed <= ClusterSeeds && (run.Seeds < FewestSeeds || run.Taken < s_clusterTime); seed++)
        {
            Assert.Null(run.Run(seed));
        }

        output.WriteLine(run.ToString());
    }

    [Fact]
    public void A_machine_starts_while_it_is_stalled() => Assert.Null(Scenarios.Simulation.Run(Scenario.Of(20_092) with { Clears = false }, keepsHistory: false).Finding);

    // The connection for transactions was lost when a lease was to be released. All machines waited for the end of that lease, ten seconds later.
    [Theory]
    [InlineData(443)]
    [InlineData(703)]
    [InlineData(1681)]
    [InlineData(2950)]
    public void A_lease_whose_release_failed_is_released_later(ulong seed) =>
        Assert.Null(Scenarios.Simulation.Run(Scenario.OfCairn(seed) with { KnowsScripts = false, Clears = false }, keepsHistory: false).Finding);

    // Two reads began at the same time after an outage. One of them asked for the lease of its key, to see whether the server works again. The other one
    // ran its factory without a lease, although the server had worked for seconds.
    [Fact]
    public void All_calls_ask_for_leases_when_the_server_works_again() =>
        Assert.Null(Scenarios.Simulation.Run(Scenario.OfCairn(5_835) with { KnowsScripts = false, Clears = false }, keepsHistory: false).Finding);

    // The server lost its file. Then a machine removed a key that it no longer had.
    [Theory]
    [InlineData(8_840)]
    [InlineData(14_912)]
    public void A_removal_of_a_key_that_the_server_has_lost_is_no_lost_change(ulong seed) =>
        Assert.Null(Scenarios.Simulation.Run(Scenario.OfCairn(seed) with { KnowsScripts = false, Clears = false }, keepsHistory: false).Finding);

    // A loss of power broke an idle connection for transactions. Its machine found that seconds later, by a time-out of each of its requests.
    [Fact]
    public void A_connection_for_transactions_is_not_older_than_the_one_for_other_commands() =>
        Assert.Null(Scenarios.Simulation.Run(Scenario.OfCairn(12_288) with { KnowsScripts = false, Clears = false }, keepsHistory: false).Finding);

    // The tag of a key was known, or was invalidated, before the server was away. Then every read ran the factory.
    [Theory]
    [InlineData(11)]
    [InlineData(33)]
    [InlineData(66)]
    [InlineData(87)]
    public void A_machine_that_is_cut_off_keeps_values_with_tags(ulong seed) =>
        Assert.Null(Scenarios.Simulation.Run(Scenario.Of(seed), keepsHistory: false).Finding);

    // Many machines abandon calls of a server that hangs. Each removal of a key was answered with a removal by all machines that waited with one.
    [Theory]
    [InlineData(22)]
    [InlineData(137)]
    [InlineData(169)]
    public void Ten_machines_settle_after_the_server_has_hung(ulong seed)
    {
        Scenario scenario = Scenario.Of(seed) with { Machines = 10, Clears = false };

        Outcome outcome = Scenarios.Simulation.Run(scenario, keepsHistory: false);

        Assert.Null(outcome.Finding);
    }
}
