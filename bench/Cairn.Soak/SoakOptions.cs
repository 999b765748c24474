namespace Cairn.Soak;

/// <summary>The options of a soak test. A folder keeps its seed. The other options can change from call to call.</summary>
internal sealed record SoakOptions
{
    /// <summary>Gets the folder of the stores, the samples and the state between pieces.</summary>
    public required string Folder { get; init; }

    /// <summary>Gets the path of the server's program: the published tool.</summary>
    public required string Tool { get; init; }

    /// <summary>Gets the duration of one piece, including its idle time at the end. At least 20 s. Default 20 minutes.</summary>
    public TimeSpan Piece { get; init; } = TimeSpan.FromMinutes(20);

    /// <summary>Gets the number of pieces that this call runs. Default 1.</summary>
    public int Pieces { get; init; } = 1;

    /// <summary>Gets the requests a second of the steady clients of both servers together. Default 1,000.</summary>
    public int RequestsPerSecond { get; init; } = 1_000;

    /// <summary>Gets how long the load pauses at the end of a piece, so that idle figures can be compared.</summary>
    public TimeSpan IdleTime => Piece < TimeSpan.FromMinutes(2) ? Piece / 4 : TimeSpan.FromSeconds(20);

    /// <summary>Gets the mean time between two kills of the server that is killed.</summary>
    public TimeSpan KillInterval => Piece / 6;

    /// <summary>Gets the time between two samples.</summary>
    public TimeSpan SampleInterval => Piece < TimeSpan.FromMinutes(2) ? TimeSpan.FromSeconds(1) : TimeSpan.FromSeconds(5);
}
