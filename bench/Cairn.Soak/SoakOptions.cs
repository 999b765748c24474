namespace Cairn.Soak;

/// <summary>How a soak test runs. A folder keeps its seed for its whole life; the rest may change from call to call.</summary>
internal sealed record SoakOptions
{
    /// <summary>Holds the stores, the samples and the state between pieces.</summary>
    public required string Folder { get; init; }

    /// <summary>The program of the server: the published tool.</summary>
    public required string Tool { get; init; }

    /// <summary>How long one piece takes, its idle time at the end included. At least 20 s.</summary>
    public TimeSpan Piece { get; init; } = TimeSpan.FromMinutes(20);

    /// <summary>How many pieces this call runs.</summary>
    public int Pieces { get; init; } = 1;

    /// <summary>Requests a second of the steady clients, over both servers.</summary>
    public int RequestsPerSecond { get; init; } = 1_000;

    /// <summary>How long the load pauses at the end of a piece, so that idle figures can be compared.</summary>
    public TimeSpan IdleTime => Piece < TimeSpan.FromMinutes(2) ? Piece / 4 : TimeSpan.FromSeconds(20);

    /// <summary>Mean time between two kills of the server that is killed.</summary>
    public TimeSpan KillInterval => Piece / 6;

    /// <summary>Time between two samples.</summary>
    public TimeSpan SampleInterval => Piece < TimeSpan.FromMinutes(2) ? TimeSpan.FromSeconds(1) : TimeSpan.FromSeconds(5);
}
