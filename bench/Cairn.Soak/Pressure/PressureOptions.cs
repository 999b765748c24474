namespace Cairn.Soak.Pressure;

/// <summary>The options of a run that puts a server under pressure.</summary>
internal sealed record PressureOptions
{
    /// <summary>Gets the command that starts the tool, without the tool's arguments.</summary>
    public required IReadOnlyList<string> Tool { get; init; }

    /// <summary>Gets the folder of the store and of the server's log.</summary>
    public required string Folder { get; init; }

    /// <summary>Gets the number of clients that request a value of 1 MiB and read 2 KiB of it a second. Default 10,000.</summary>
    public int SlowReaders { get; init; } = 10_000;

    /// <summary>
    /// Gets the number of clients that request more than they read. An eighth of them is of each <see cref="GreedyKind"/> except slow readers.
    /// Default 1,000.
    /// </summary>
    public int GreedyClients { get; init; } = 1_000;

    /// <summary>Gets the number of clients that request a value of 100 bytes at a fixed rate. Default 1,000.</summary>
    public int SteadyClients { get; init; } = 1_000;

    /// <summary>Gets the requests a second of all steady clients. Null for a tenth of the rate that the server reaches without pauses.</summary>
    public double? RequestsPerSecond { get; init; }

    /// <summary>Gets how often the crowd connects and leaves. Default 3.</summary>
    public int Rounds { get; init; } = 3;

    /// <summary>Gets the length of each measurement: of the steady clients alone, and beside the crowd. Default 5 seconds.</summary>
    public TimeSpan Phase { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Gets whether the server has processor 0 for itself. The clients then need processor 1 (taskset -c 1). Default true.</summary>
    public bool IsPinned { get; init; } = true;

    /// <summary>
    /// Gets whether the crowd uses a second server on the same processor, with a lower priority than the first. The steady clients then wait for the
    /// machine and for the clients of the crowd, and not for the server's work for the crowd.
    /// </summary>
    public bool IsCrowdApart { get; init; }

    /// <summary>Gets the server's limit of the memory of all connections, in MiB. Default 512.</summary>
    public int BufferMemoryMiB { get; init; } = 512;
}
