using System.Globalization;
using System.Net;
using System.Text;
using Cairn.Simulation.Scheduling;
using Cairn.Simulation.Servers;

namespace Cairn.Simulation.Scenarios;

/// <summary>Everything that a run is made of. A seed gives one; shrinking gives smaller ones.</summary>
internal sealed record Scenario
{
    private const int FirstFaultMs = 1_500;

    public required ulong Seed { get; init; }

    public required int Machines { get; init; }

    public required int Keys { get; init; }

    /// <summary>Gets the end of the calls under failures. The quiet follows.</summary>
    public required int BusyMs { get; init; }

    public required IReadOnlyList<Fault> Faults { get; init; }

    /// <summary>Gets whether the server tracks keys. Otherwise the caches publish.</summary>
    public required bool Tracks { get; init; }

    public required bool IsDurable { get; init; }

    public required int CallIntervalMs { get; init; }

    /// <summary>Gets how many calls of a hundred change a key.</summary>
    public required int ChangePercent { get; init; }

    /// <summary>Gets whether some changes expire a key or clear the cache.</summary>
    public bool Clears { get; init; }

    public required int FactoryMs { get; init; }

    public required int OperationTimeoutSeconds { get; init; }

    public required int LocalMaxEntries { get; init; }

    public required int MaxPendingWrites { get; init; }

    /// <summary>Gets the number of masters of a Cluster, each with a replica; 0 for one server.</summary>
    public int Shards { get; init; }

    /// <summary>Gets whether the server is Cairn's own.</summary>
    public bool IsCairn { get; init; }

    /// <summary>Gets whether Cairn's server knows the scripts of leases. Otherwise machines use transactions on connections of their own, as with other servers
    /// without scripts.</summary>
    public bool KnowsScripts { get; init; }

    /// <summary>Gets the addresses that machines know.</summary>
    public IPEndPoint[] Places => Shards == 0
        ? [new(IPAddress.Loopback, 6379)]
        : [.. Enumerable.Range(VirtualCluster.FirstPort, 2 * Shards).Select(port => new IPEndPoint(IPAddress.Loopback, port))];

    public static Scenario Of(ulong seed)
    {
        SeededRandom random = SeededRandom.For(seed, "scenario");
        int machines = 2 + random.Below(3);
        int busyMs = 6_000 + random.Below(8_000);
        int faults = random.Below(8);
        return new Scenario
        {
            Seed = seed,
            Machines = machines,
            Keys = 2 + random.Below(5),
            BusyMs = busyMs,
            Tracks = random.Below(4) > 0,
            IsDurable = random.Below(2) == 0,
            CallIntervalMs = 20 << random.Below(4),
            ChangePercent = 2 + (random.Below(3) * random.Below(10)),
            Clears = SeededRandom.For(seed, "clears").Below(2) == 0,
            FactoryMs = 1 + random.Below(120),
            OperationTimeoutSeconds = 1 + (4 * random.Below(2)),
            LocalMaxEntries = random.Below(3) == 0 ? 2 : 1_000,
            MaxPendingWrites = random.Below(3) == 0 ? 1 : 10_000,
            Faults = [.. Enumerable.Range(0, faults).Select(_ => NextFault(random, machines, busyMs)).OrderBy(fault => fault.AtMs)],
        };
    }

    /// <summary>Returns a scenario with a Cluster, whose masters fail more often than others.</summary>
    public static Scenario OfCluster(ulong seed)
    {
        Scenario scenario = Of(seed);
        SeededRandom random = SeededRandom.For(seed, "cluster scenario");
        int shards = 1 + random.Below(3);
        return scenario with
        {
            Shards = shards,
            Faults =
            [
                .. scenario.Faults.Concat(Enumerable.Range(0, 1 + random.Below(3)).Select(_ => new Fault(
                    FaultKind.Failover + random.Below(3),
                    FirstFaultMs + random.Below(scenario.BusyMs - FirstFaultMs),
                    random.Below(7_000),
                    Machine: -1,
                    1 + random.Below(8_000),
                    random.Below(4)))).OrderBy(fault => fault.AtMs),
            ],
        };
    }

    /// <summary>Returns a scenario with Cairn's own server, which is killed and started again more often than others.</summary>
    public static Scenario OfCairn(ulong seed)
    {
        Scenario scenario = Of(seed);
        SeededRandom random = SeededRandom.For(seed, "scenario of Cairn's server");
        return scenario with
        {
            IsCairn = true,
            IsDurable = random.Below(4) > 0,
            KnowsScripts = SeededRandom.For(seed, "scripts").Below(2) == 0,
            Faults =
            [
                .. scenario.Faults.Concat(Enumerable.Range(0, random.Below(3)).Select(_ => new Fault(
                    FaultKind.CrashServer,
                    FirstFaultMs + random.Below(scenario.BusyMs - FirstFaultMs),
                    random.Below(2) == 0 ? random.Below(100) : random.Below(4_000),
                    Machine: -1,
                    Amount: 0,
                    random.Below(4)))).OrderBy(fault => fault.AtMs),
            ],
        };
    }

    public override string ToString()
    {
        var text = new StringBuilder();
        text.Append(
            CultureInfo.InvariantCulture,
            $"seed {Seed}: {Machines} machines, {Keys} keys, {BusyMs / 1000.0:0.0} s, a call each {CallIntervalMs} ms, {ChangePercent} % changes{(Clears ? " of all ways" : "")}, factories of {2 * FactoryMs} ms at most, "
            + $"{(Shards > 0 ? $"{Shards} shards, " : "")}{(IsCairn ? $"Cairn's server {(IsDurable ? "that keeps its file" : "without its file")}{(KnowsScripts ? ", scripts" : "")}, " : "")}{(Tracks ? "tracking" : "publishing")}, time-out {OperationTimeoutSeconds} s, {MaxPendingWrites} pending writes\n");
        foreach (Fault fault in Faults)
        {
            text.Append(CultureInfo.InvariantCulture, $"  {fault}\n");
        }

        return text.ToString();
    }

    private static Fault NextFault(SeededRandom random, int machines, int busyMs)
    {
        var kind = (FaultKind)random.Below((int)FaultKind.Failover);
        int atMs = FirstFaultMs + random.Below(busyMs - FirstFaultMs);
        int forMs = random.Below(3) switch { 0 => random.Below(300), 1 => random.Below(2_000), _ => random.Below(7_000) };
        int machine = random.Below(4) == 0 ? -1 : random.Below(machines);
        int variant = random.Below(4);
        long amount = kind switch
        {
            FaultKind.Latency => random.Between(1_000, 800_000),
            FaultKind.Cut => random.Between(0, random.Below(2) == 0 ? 40 : 2_000),
            FaultKind.SlowServer => random.Between(10, 2_000),
            FaultKind.ClockStep => random.Between(-3_600_000, 3_600_000),
            FaultKind.Drift => random.Between(-1_000, 1_000),
            FaultKind.Burst => random.Between(20, 200),
            _ => 0,
        };
        return new Fault(kind, atMs, forMs, machine, amount, variant);
    }
}
