namespace Cairn.Server.Resp.Tracking;

/// <summary>How a client tracks keys. Immutable: a change replaces it, so other workers always see a consistent state.</summary>
internal sealed record TrackingState
{
    /// <summary>Gets whether the client receives every change of keys with one of the <see cref="Prefixes"/>, not only of keys that it
    /// has read.</summary>
    public bool IsBroadcast { get; init; }

    /// <summary>Gets whether reads are tracked only after CLIENT CACHING YES.</summary>
    public bool IsOptIn { get; init; }

    /// <summary>Gets whether reads are tracked except after CLIENT CACHING NO.</summary>
    public bool IsOptOut { get; init; }

    /// <summary>Gets whether the client receives no invalidations of its own changes.</summary>
    public bool IsNoLoop { get; init; }

    /// <summary>Gets the connection that receives the invalidations instead; 0 for none.</summary>
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
