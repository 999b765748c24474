namespace Cairn.Caching.Levels;

// A lease of the store. For a value that is too long to carry a lease, it is the value's version instead: other callers may then create the
// value as well, and the first writer wins.
internal sealed class StoreLevelLease : ILevelLease
{
    private readonly CairnCollection _keys;
    private readonly string _key;
    private readonly StoreLease? _lease;
    private readonly ulong _version;

    public StoreLevelLease(CairnCollection keys, string key, StoreLease? lease, ulong version)
    {
        _keys = keys;
        _key = key;
        _lease = lease;
        _version = version;
    }

    public bool IsHeld
    {
        get
        {
            try
            {
                return _lease?.IsHeld ?? (_keys.TryGetInfo(_key, out EntryInfo info) && info.Version == _version);
            }
            catch (ObjectDisposedException)
            {
                return false; // The lease ended when the opening of the store that acquired it was closed.
            }
        }
    }

    /// <summary>Writes the value, if the lease is still held.</summary>
    public LevelStatus Write(ReadOnlySpan<byte> value, Expiration expiration)
    {
        WriteStatus status = _lease?.Set(value, expiration, flags: 0) ?? _keys.CompareAndSwap(_key, value, _version, expiration);
        return status switch
        {
            WriteStatus.Stored => LevelStatus.Done,
            WriteStatus.LeaseLost or WriteStatus.VersionMismatch or WriteStatus.NotFound => LevelStatus.LeaseLost,
            _ => LevelStatus.Failed,
        };
    }

    /// <summary>Releases the lease.</summary>
    public void Release()
    {
        try
        {
            _lease?.Dispose();
        }
        catch (ObjectDisposedException)
        {
            // The lease ended when the store was closed.
        }
    }

    public ValueTask DisposeAsync()
    {
        Release();
        return ValueTask.CompletedTask;
    }
}
