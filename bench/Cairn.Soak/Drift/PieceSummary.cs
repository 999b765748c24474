namespace Cairn.Soak.Drift;

/// <summary>The figures of one piece of a soak test, which can be compared with those of other pieces.</summary>
/// <param name="Number">The number of the piece, from 1.</param>
/// <param name="Seconds">The duration of the piece.</param>
/// <param name="Commit">The commit of the tool that served.</param>
/// <param name="Requests">The number of requests of the steady clients.</param>
/// <param name="Kills">How often a process was killed.</param>
/// <param name="Connections">The number of connections of passing clients and slow readers.</param>
/// <param name="Faults">Wrong answers, damaged files, failed restarts. Empty if the piece found no fault.</param>
/// <param name="Servers">The figures of each server.</param>
internal sealed record PieceSummary(
    int Number,
    double Seconds,
    string Commit,
    long Requests,
    int Kills,
    long Connections,
    IReadOnlyList<string> Faults,
    IReadOnlyList<ServerSummary> Servers);

/// <param name="Name">The name of the server.</param>
/// <param name="IdleAnonymousBytes">Resident memory without the mapped store, at the end of the piece while the load paused.</param>
/// <param name="LoadedAnonymousBytes">The median of the same memory under load.</param>
/// <param name="IdleDescriptors">The number of descriptors at the end.</param>
/// <param name="IdleThreads">The number of threads at the end.</param>
/// <param name="IdleMappings">The number of mapped regions at the end.</param>
/// <param name="FileBytes">The length of the store's file at the end.</param>
/// <param name="FolderBytes">The bytes that the store's folder takes on the disk at the end.</param>
/// <param name="P50Ms">The median of the samples' median latencies.</param>
/// <param name="P99Ms">The median of the samples' 99th percentiles of the latency.</param>
/// <param name="LongestRestartMs">The longest time from the start of the process to its first answer, after a kill. 0 without a kill.</param>
internal sealed record ServerSummary(
    string Name,
    long IdleAnonymousBytes,
    long LoadedAnonymousBytes,
    int IdleDescriptors,
    int IdleThreads,
    int IdleMappings,
    long FileBytes,
    long FolderBytes,
    double P50Ms,
    double P99Ms,
    double LongestRestartMs);
