namespace Cairn;

/// <summary>A value that this process has removed from a map.</summary>
/// <typeparam name="TKey">The type of the map's keys.</typeparam>
public sealed class MapRemovedEventArgs<TKey> : EventArgs
    where TKey : notnull
{
    internal MapRemovedEventArgs(TKey key, MapRemovalReason reason)
    {
        Key = key;
        Reason = reason;
    }

    /// <summary>Gets the key.</summary>
    public TKey Key { get; }

    /// <summary>Gets why the value left the map.</summary>
    public MapRemovalReason Reason { get; }
}
