namespace Cairn.Soak.Pressure;

/// <summary>How much pressure a server is put under.</summary>
internal sealed record PressureOptions
{
    /// <summary>The command that starts the tool, without its arguments.</summary>
    public required IReadOnlyList<string> Tool { get; init; }

    /// <summary>Where the store and the server's log are put.</summary>
    public required string Folder { get; init; }

    /// <summary>Clients that ask for a value of 1 MiB and read 2 KiB of it a second.</summary>
    public int SlowReaders { get; init; } = 10_000;

    /// <summary>Clients that ask for more than they read, a fifth of each kind (<see cref="GreedyKind"/>).</summary>
    public int GreedyClients { get; init; } = 1_000;

    /// <summary>Clients that ask for a value of 100 bytes at a fixed rate.</summary>
    public int SteadyClients { get; init; } = 1_000;

    /// <summary>Requests a second of all steady clients; null for a tenth of what the server answers when they do not pause.</summary>
    public double? RequestsPerSecond { get; init; }

    /// <summary>How often the crowd comes and leaves.</summary>
    public int Rounds { get; init; } = 3;

    /// <summary>Length of each measurement: of the steady clients alone, and beside the crowd.</summary>
    public TimeSpan Phase { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Whether the server has processor 0 for itself. The clients need processor 1 then (taskset -c 1).</summary>
    public bool IsPinned { get; init; } = true;

    /// <summary>Whether the crowd is at a second server, on the same processor and behind the first one. The steady clients then wait for the
    /// machine and for the clients of the crowd, and not for what the server does with it.</summary>
    public bool IsCrowdApart { get; init; }

    /// <summary>The limit of the memory of all connections, which the server is started with.</summary>
    public int BufferMemoryMiB { get; init; } = 512;
}
