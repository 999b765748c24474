namespace Cairn.Benchmarks;

/// <summary>How an area is run.</summary>
internal sealed record RunSettings
{
    /// <summary>End within a minute: fewer entries and rounds. The figures are not for quoting.</summary>
    public bool IsQuick { get; init; }

    /// <summary>Rounds per case; <see langword="null"/> leaves the number to the area.</summary>
    public int? Rounds { get; init; }

    /// <summary>Measures only cases whose name holds this text, whatever the case of its letters; <see langword="null"/> measures all.</summary>
    public string? Only { get; init; }

    /// <summary>The clone of the repository that is measured.</summary>
    public required string Root { get; init; }

    /// <summary>Where stores and peers keep their files for the length of a run; on a real disk.</summary>
    public required string Folder { get; init; }

    /// <summary>Where the Java peers are: <c>Peers.java</c>, <c>jvmargs</c> and <c>lib</c>.</summary>
    public required string PeersFolder { get; init; }

    /// <summary>Servers to compare with besides those of the system: name and program.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> ServerPeers { get; init; } = [];

    /// <summary>Gives servers and their load real-time priority while they are measured.</summary>
    public bool IsRealTime { get; init; }

    /// <summary>Where the traces are.</summary>
    public required string TracesFolder { get; init; }
}
