using Cairn.Benchmarks.Server;

namespace Cairn.Benchmarks;

/// <summary>The settings of a run.</summary>
internal sealed record RunSettings
{
    /// <summary>Gets whether the run ends within a minute, with fewer entries and rounds. Its figures must not be quoted.</summary>
    public bool IsQuick { get; init; }

    /// <summary>Gets the number of rounds per case; <see langword="null"/> for the area's default.</summary>
    public int? Rounds { get; init; }

    /// <summary>Gets the text that the name of a measured case must contain, ignoring case; <see langword="null"/> measures all.</summary>
    public string? Only { get; init; }

    /// <summary>Gets the root of the repository that is measured.</summary>
    public required string Root { get; init; }

    /// <summary>Gets the folder for the files of stores and peers during a run. It must be on a real disk.</summary>
    public required string Folder { get; init; }

    /// <summary>Gets the folder of the Java peers: <c>Peers.java</c>, <c>jvmargs</c> and <c>lib</c>.</summary>
    public required string PeersFolder { get; init; }

    /// <summary>Gets the servers to compare with in addition to those of the system, by kind, name and program.</summary>
    public IReadOnlyList<NamedPeer> ServerPeers { get; init; } = [];

    /// <summary>Gets whether servers and their load have real-time priority while they are measured.</summary>
    public bool IsRealTime { get; init; }
}
