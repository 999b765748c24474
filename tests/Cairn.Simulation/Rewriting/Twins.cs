namespace Cairn.Simulation.Rewriting;

/// <summary>A deliberately broken copy of a method of the product: it does nothing, or returns a constant.</summary>
/// <param name="Number">The number by which a run chooses the twin.</param>
/// <param name="Type">The type of the method.</param>
/// <param name="Method">The method; of several, the one with most parameters.</param>
/// <param name="Result">What the twin returns: a number, or 0 for a null reference; null if the method returns nothing.</param>
internal sealed record Twin(int Number, string Type, string Method, int? Result)
{
    /// <summary>The result of a twin that returns its first argument.</summary>
    public const int FirstArgument = int.MinValue;
}

/// <summary>The broken twins. TwinTests says which rule finds each of them.</summary>
internal static class Twins
{
    public const int TrustsSilence = 1;
    public const int IgnoresMissed = 2;
    public const int IgnoresChanges = 3;
    public const int NeverRetries = 4;
    public const int SharesLeases = 5;
    public const int ForgetsOwnChanges = 6;
    public const int ForgetsPendingChanges = 7;
    public const int WaitsWithoutLimit = 8;
    public const int NeverEvicts = 9;
    public const int HidesSimultaneousChanges = 10;
    public const int RetriesUnproven = 11;
    public const int WatchesNoLateWrites = 12;
    public const int WritesWithoutAskedLease = 13;
    public const int RepeatsChanges = 14;
    public const int KeepsLeases = 15;
    public const int TrustsReplacedNodes = 16;
    public const int ForgetsReplicatedChanges = 17;
    public const int DoubtsNoNode = 18;
    public const int TellsNoChanges = 19;
    public const int IgnoresClears = 20;
    public const int DelaysMessages = 21;
    public const int ForgetsElapsedTime = 22;
    public const int KeepsNothingWhileCutOff = 23;
    public const int BeatsWithoutPause = 24;
    public const int RestoresRemoved = 25;

    /// <summary>Gets the twins that the rewriter adds to the product. The others are in the simulator's server and clock.</summary>
    public static readonly Twin[] OfProduct =
    [
        new(TrustsSilence, "Cairn.Caching.Coherence.ChannelLiveness", "get_IsTrusted", 1),
        new(IgnoresMissed, "Cairn.Caching.Coherence.ChannelHub", "OnMissed", null),
        new(IgnoresChanges, "Cairn.Caching.Coherence.ChannelHub", "OnChanged", null),
        new(NeverRetries, "Cairn.Caching.Levels.WriteBehindQueue", "StartWork", null),
        new(ForgetsOwnChanges, "Cairn.Caching.Coherence.ChangeStripes", "Change", null),
        new(ForgetsPendingChanges, "Cairn.Caching.Levels.WriteBehindQueue", "MarkPending", null),
        new(ForgetsPendingChanges, "Cairn.Caching.Levels.WriteBehindQueue", "Enqueue", null),
        new(NeverEvicts, "Cairn.Caching.Local.LocalShard", "Evict", null),
        new(NeverEvicts, "Cairn.Caching.Local.LocalShard", "MakeRoom", null),
        new(RetriesUnproven, "Cairn.Caching.Coherence.ChannelLiveness", "IsProven", 1),
        new(WatchesNoLateWrites, "Cairn.Caching.Levels.KeyState", "get_IsUnconfirmed", 0),
        new(WritesWithoutAskedLease, "Cairn.Caching.Levels.DistributedLease", "get_IsUnasked", 0),
        new(RepeatsChanges, "Cairn.Caching.Levels.WriteBehindQueue", "TryEnd", 0),
        new(TrustsReplacedNodes, "Cairn.Redis.RedisClient", "FindServedKey", 0),
        new(DoubtsNoNode, "Cairn.Redis.Cluster.ClusterTopology", "Doubt", null),
        new(WaitsWithoutLimit, "Cairn.Clients.Connections.ServerConnection", "OnTick", null),
        new(IgnoresClears, "Cairn.Caching.Coherence.ChannelHub", "IsAll", 0),
        new(ForgetsElapsedTime, "Cairn.Caching.Levels.LevelDeadline", "Left", Twin.FirstArgument),
        new(KeepsNothingWhileCutOff, "Cairn.Caching.Operations.LocalReader", "IsYoung", 0),
        new(TellsNoChanges, "Cairn.Server.Resp.Tracking.TrackingHub", "Tell", null),
    ];
}
