namespace Cairn.Server.Resp.Tracking;

/// <summary>How a client follows changes. Never changed, but replaced, so that other workers see one whole state.</summary>
internal sealed record TrackingState
{
    /// <summary>Told of every change of keys that begin with <see cref="Prefixes"/>, not only of those read.</summary>
    public bool IsBroadcast { get; init; }

    /// <summary>What is read is remembered only after CLIENT CACHING YES.</summary>
    public bool IsOptIn { get; init; }

    /// <summary>What is read is remembered but after CLIENT CACHING NO.</summary>
    public bool IsOptOut { get; init; }

    /// <summary>Not told of its own changes.</summary>
    public bool IsNoLoop { get; init; }

    /// <summary>The connection that is told instead; 0 for none.</summary>
    public long Redirection { get; init; }

    public byte[][] Prefixes { get; init; } = [];

    public bool IsWanted(ReadOnlySpan<byte> key)
    {
        foreach (byte[] prefix in Prefixes)
        {
            if (key.StartsWith(prefix))
            {
                return true;
            }
        }

        return false;
    }
}
