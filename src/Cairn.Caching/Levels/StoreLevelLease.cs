namespace Cairn.Caching.Levels;

// A lease as the store grants it, or, on a value that is too long to carry one, the value's version: then others may make a value as
// well, and the first who writes it wins.
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
                return false; // It ended with the opening of the store that it was taken by.
            }
        }
    }

    /// <summary>Writes the value, if the lease stands.</summary>
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

    /// <summary>Gives it back.</summary>
    public void Release()
    {
        try
        {
            _lease?.Dispose();
        }
        catch (ObjectDisposedException)
        {
            // As above.
        }
    }

    public ValueTask DisposeAsync()
    {
        Release();
        return ValueTask.CompletedTask;
    }
}
