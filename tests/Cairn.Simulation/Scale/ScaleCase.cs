using System.Globalization;

namespace Cairn.Simulation.Scale;

/// <summary>How the server tells machines of changes.</summary>
internal enum Telling
{
    /// <summary>Machines publish each change, and all machines receive it.</summary>
    Publish,

    /// <summary>The server tracks keys by their prefix, and all machines receive each change. This is the default of Cairn.Redis.</summary>
    TrackPrefixes,

    /// <summary>The server remembers which connection has read which key, and only those receive its change.</summary>
    TrackKeys,
}

/// <summary>One point of a curve.</summary>
/// <param name="Telling">How machines learn of changes.</param>
/// <param name="Machines">The number of machines.</param>
/// <param name="ChangePercent">How many calls of a hundred change a key.</param>
/// <param name="Shards">The number of masters of a Cluster; 0 for one server.</param>
/// <param name="OutageMs">For how long the server is gone after the measurement, with all connections; -1 if it stays.</param>
internal sealed record ScaleCase(Telling Telling, int Machines, double ChangePercent, int Shards = 0, int OutageMs = -1)
{
    /// <summary>The number of keys. The most frequent one gets a sixth of the calls.</summary>
    public const int Keys = 200;

    /// <summary>The mean time between two calls of one machine: 20 calls a second.</summary>
    public const int CallIntervalMs = 50;

    /// <summary>How long a factory runs.</summary>
    public const int FactoryMs = 5;

    public const ulong Seed = 1;

    private const double LeastChanges = 100;
    private const int LeastMs = 3_000;
    private const int MostMs = 1_000_000;

    /// <summary>Gets how long the case is measured: long enough for a hundred changes, if that takes no longer than 1,000 seconds.</summary>
    public int MeasuredMs => (int)Math.Clamp(LeastChanges * CallIntervalMs * 100 / (Machines * ChangePercent), LeastMs, MostMs);

    public string Name => string.Create(CultureInfo.InvariantCulture, $"{Of(Telling)}{(Shards > 0 ? $", {Shards} shards" : "")}");

    public static string Of(Telling telling) => telling switch
    {
        Telling.Publish => "publish",
        Telling.TrackPrefixes => "track prefixes",
        _ => "track keys",
    };
}

/// <summary>What was measured for a point.</summary>
internal sealed record ScaleRow
{
    public required string Telling { get; init; }

    public required int Machines { get; init; }

    public required double ChangePercent { get; init; }

    public required int Shards { get; init; }

    public required double ChangesPerSecond { get; init; }

    /// <summary>Gets the messages by which machines learnt of changes, for each change of the application.</summary>
    public required double MessagesPerChange { get; init; }

    public required double BytesPerChange { get; init; }

    /// <summary>Gets the requests to the server for each second, without those of changes and heartbeats being told apart.</summary>
    public required double CommandsPerSecond { get; init; }

    /// <summary>Gets the part of the time in which the thread of the busiest server worked.</summary>
    public required double Busy { get; init; }

    /// <summary>Gets the pairs of a key and a connection that the server remembers.</summary>
    public required long Tracked { get; init; }

    /// <summary>Gets the part of the reads that the memory of the machine answered.</summary>
    public required double HitRatio { get; init; }

    /// <summary>Gets the part of the reads that returned an older value than one that was acknowledged before the read began.</summary>
    public required double StaleRatio { get; init; }

    public required double StaleP50Ms { get; init; }

    public required double StaleP99Ms { get; init; }

    public required double StaleLongestMs { get; init; }

    public required double FactoryRunsPerChange { get; init; }

    public required double ReadP99Ms { get; init; }

    public ScaleRecovery? Recovery { get; init; }
}

/// <summary>How machines recovered from the loss of the server with all connections.</summary>
internal sealed record ScaleRecovery
{
    public required int OutageMs { get; init; }

    /// <summary>Gets the time after the server's return at which all machines received changes again.</summary>
    public required double ReceivingMs { get; init; }

    /// <summary>Gets the time after the server's return at which the hit ratio was as before, within a hundredth.</summary>
    public required double HitRatioMs { get; init; }

    /// <summary>Gets the most connections that the server accepted in 10 ms.</summary>
    public required long ConnectionsIn10Ms { get; init; }

    /// <summary>Gets the most commands that the server executed in 100 ms, and as many before.</summary>
    public required long CommandsIn100Ms { get; init; }

    public required long CommandsIn100MsBefore { get; init; }

    /// <summary>Gets for how long the server's thread was busy in the first five seconds.</summary>
    public required double BusyMs { get; init; }

    public required long FactoryRuns { get; init; }

    public required double LongestReadMs { get; init; }
}
