using System.Globalization;

namespace Cairn.Simulation.Scenarios;

internal enum FaultKind
{
    Latency,
    Partition,
    Cut,
    StallMachine,
    StallServer,
    SlowServer,
    CrashMachine,
    CrashServer,
    ClockStep,
    Drift,
    Evict,
    Burst,

    // Of a Cluster only.
    Failover,
    Isolate,
    MoveSlots,
}

/// <summary>One failure of a scenario.</summary>
/// <param name="Kind">What fails.</param>
/// <param name="AtMs">When, in milliseconds since the beginning.</param>
/// <param name="ForMs">For how long.</param>
/// <param name="Machine">The machine; -1 for all.</param>
/// <param name="Amount">How much, by kind: microseconds, bytes, a factor, calls or milliseconds.</param>
/// <param name="Variant">Which directions or sides, by kind: 0 to 3.</param>
internal sealed record Fault(FaultKind Kind, int AtMs, int ForMs, int Machine, long Amount, int Variant)
{
    public int EndMs => AtMs + ForMs;

    public override string ToString()
    {
        string where = Machine < 0 ? "all machines" : string.Create(CultureInfo.InvariantCulture, $"m{Machine}");
        string what = Kind switch
        {
            FaultKind.Latency => $"{(Variant == 1 ? "" : "requests ")}{(Variant == 2 ? "" : "replies ")}of {where} take {Amount / 1000.0:0.0} ms longer",
            FaultKind.Partition => $"{(Variant == 1 ? "" : "requests ")}{(Variant == 2 ? "" : "replies ")}of {where} are kept back{(Variant == 3 ? ", and its connections break" : "")}",
            FaultKind.Cut => $"connections of {where} break {Amount / 2} bytes later{(Variant == 1 ? ", and the machine does not learn of it" : "")}",
            FaultKind.StallMachine => $"{where} does nothing",
            FaultKind.StallServer => "the server does nothing",
            FaultKind.SlowServer => $"the server is {Amount} times as slow",
            FaultKind.CrashMachine => $"{where} {(Variant == 0 ? "without power" : "killed")}",
            FaultKind.CrashServer => $"the server {(Variant == 0 ? "without power" : "killed")}",
            FaultKind.ClockStep => $"the time of day of {where} is wrong by {Amount / 1000} s",
            FaultKind.Drift => $"the clock of {where} is wrong by {Amount} parts of a million",
            FaultKind.Evict => "the server evicts half of its keys",
            FaultKind.Failover => Variant == 0 ? "a master hands its slots over to its replica" : "a master fails, and its replica takes its place",
            FaultKind.Isolate => "the other nodes cannot reach a master, but machines can",
            FaultKind.MoveSlots => $"{Amount} slots move",
            _ => $"{where} makes {Amount} calls at once",
        };
        return string.Create(CultureInfo.InvariantCulture, $"{AtMs / 1000.0:0.000} to {EndMs / 1000.0:0.000}: {what}");
    }
}
