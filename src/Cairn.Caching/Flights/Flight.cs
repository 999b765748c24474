namespace Cairn.Caching.Flights;

// The making of one value: read from the second level or made by the factory, for all who want it meanwhile.
//
//   joinable --somebody changed the key, or it ended--> not joinable
//   attached --this process changed the key--> detached: what it makes is for those who wait already, and is not kept
//
//   I1  A flight that is joinable began after every change of its key that was acknowledged: who joins gets nothing older. Where others
//       are not heard of, it began at most as long ago as what they changed may be unknown.
//   I2  A detached flight keeps nothing: the check and the keeping are one step under the flight's lock, or its stripe's, and
//       whoever detaches holds both, and removes from the first level after.
//
// A flight is its own lock: there is one for every miss, and nobody outside can reach it.
internal abstract class Flight(string key, ulong hash)
{
    private bool _isDetached;

    public string Key { get; } = key;

    public ulong Hash { get; } = hash;

    /// <summary>The flight whose factory began this one; to notice a factory that waits for itself.</summary>
    public Flight? Parent { get; init; }

    /// <summary>The next flight of the same stripe. Under the stripe's lock.</summary>
    public Flight? Next { get; set; }

    /// <summary>True once it was taken out by the one who runs it: it need not be looked for any more. Only that thread asks.</summary>
    public bool IsRemoved { get; set; }

    /// <summary>True if the second level has a value that is of no use to anybody: its lease is that of a value to be replaced.</summary>
    public bool ReplacesUseless { get; set; }

    /// <summary>A second of the cache's own clock, not after its beginning; 0 where there is no second level.</summary>
    public uint Began { get; init; }

    /// <summary>True once its outcome is known.</summary>
    public virtual bool HasEnded => false;

    /// <summary>True if others can wait for it.</summary>
    public virtual bool IsJoinable => false;

    /// <summary>True if it brings a value of its own, and not what it read or made of what it read.</summary>
    public virtual bool IsWriter => false;

    // A stale read is one that came before: what depends on it is decided again under a lock (I2).
    public bool IsDetached => Volatile.Read(ref _isDetached);

    public void Detach()
    {
        lock (this)
        {
            _isDetached = true;
        }
    }

    /// <summary>Runs <paramref name="keep"/> unless it is detached (I2).</summary>
    public bool TryKeep<TState>(TState state, Action<TState> keep)
    {
        lock (this)
        {
            if (_isDetached)
            {
                return false;
            }

            keep(state);
            return true;
        }
    }
}
