namespace Cairn.Soak.Drift;

/// <summary>One piece of a soak test in figures that can be compared with those of other pieces.</summary>
/// <param name="Number">Counted from 1.</param>
/// <param name="Seconds">How long it took.</param>
/// <param name="Commit">Version of the tool that served.</param>
/// <param name="Requests">Requests of the steady clients.</param>
/// <param name="Kills">How often a process was killed.</param>
/// <param name="Connections">Connections that came and went.</param>
/// <param name="Faults">Wrong answers, unsound files, failed restarts. Empty when all was right.</param>
/// <param name="Servers">Figures of each server.</param>
internal sealed record PieceSummary(
    int Number,
    double Seconds,
    string Commit,
    long Requests,
    int Kills,
    long Connections,
    IReadOnlyList<string> Faults,
    IReadOnlyList<ServerSummary> Servers);

/// <param name="Name">Which one.</param>
/// <param name="IdleAnonymousBytes">Resident memory beside the store at the end of the piece, when the load had paused.</param>
/// <param name="LoadedAnonymousBytes">Median of the same under load.</param>
/// <param name="IdleDescriptors">Descriptors at the end.</param>
/// <param name="IdleThreads">Threads at the end.</param>
/// <param name="IdleMappings">Mapped regions at the end.</param>
/// <param name="FileBytes">Length of the store's file at the end.</param>
/// <param name="FolderBytes">What its folder takes on the disk at the end.</param>
/// <param name="P50Ms">Median over the samples of the median latency.</param>
/// <param name="P99Ms">Median over the samples of the 99th percentile.</param>
/// <param name="LongestRestartMs">Longest time from the start of the process to its first answer, after a kill; 0 if it was not killed.</param>
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
