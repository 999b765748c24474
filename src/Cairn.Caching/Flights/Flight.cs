namespace Cairn.Caching.Flights;

// The creation of one value, read from the second level or created by the factory, for all callers that want it meanwhile.
//
//   joinable --another caller changed the key, or the flight ended--> not joinable
//   attached --this process changed the key--> detached: the value goes to the callers that wait already, and is not kept
//
//   I1  A joinable flight began after every acknowledged change of its key: a caller that joins gets no older value. While the channel is
//       not live, the flight began at most as long ago as changes of other machines may be unknown.
//   I2  A detached flight keeps nothing: the check and the keep are one step under the flight's lock, or its stripe's. Detaching takes both
//       locks, and the removal from the first level follows.
//
// A flight is its own lock object: every miss has a flight, and external code cannot reach it.
internal abstract class Flight(string key, ulong hash)
{
    private bool _isDetached;

    public string Key { get; } = key;

    public ulong Hash { get; } = hash;

    /// <summary>The flight whose factory began this one, used to detect a factory that waits for itself.</summary>
    public Flight? Parent { get; init; }

    /// <summary>The next flight of the same stripe. Used under the stripe's lock.</summary>
    public Flight? Next { get; set; }

    /// <summary>True once the thread that runs the flight has removed it from its stripe. Read only by that thread.</summary>
    public bool IsRemoved { get; set; }

    /// <summary>True if the second level has a value that no caller can use: the lease is then one for replacing a value.</summary>
    public bool ReplacesUseless { get; set; }

    /// <summary>A second of the cache's own clock, not after the flight's beginning; 0 without a second level.</summary>
    public uint Began { get; init; }

    /// <summary>True once the outcome is known.</summary>
    public virtual bool HasEnded => false;

    /// <summary>True if other callers can wait for the flight.</summary>
    public virtual bool IsJoinable => false;

    /// <summary>True if the flight stores a caller's value, instead of one that it read or created.</summary>
    public virtual bool IsWriter => false;

    // A stale read is equivalent to an earlier one: decisions that depend on it are repeated under a lock (I2).
    public bool IsDetached => Volatile.Read(ref _isDetached);

    public void Detach()
    {
        lock (this)
        {
            _isDetached = true;
        }
    }

    /// <summary>Runs <paramref name="keep"/> unless the flight is detached (I2).</summary>
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
