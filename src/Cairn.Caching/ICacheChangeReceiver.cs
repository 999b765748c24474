namespace Cairn.Caching;

/// <summary>Receives changes from <see cref="ICacheInvalidation"/>.</summary>
/// <remarks>
/// <para>Calls come one after the other, from any thread, in the order of the changes as far as the server knows it. The methods normally
/// return within microseconds, do no I/O, and throw nothing.</para>
/// <para>Entries in memory count as current for two seconds after the last heartbeat. So the channel must call <see cref="OnHeartbeat"/> at
/// least twice a second. For example, it sends a request over the connection that also delivers the changes; the server answers it after all
/// earlier changes.</para>
/// </remarks>
public interface ICacheChangeReceiver
{
    /// <summary>
    /// Handles a change of a key or of all keys with a prefix. The receiver ignores its own changes, which have its
    /// <see cref="CacheChange.Sender"/>.
    /// </summary>
    void OnChanged(in CacheChange change);

    /// <summary>
    /// Handles a heartbeat: the connection works, and all changes made before now minus <paramref name="age"/> were delivered. After a lost
    /// connection, the first heartbeat comes after the missed changes were delivered, one by one or by <see cref="OnMissed"/>.
    /// </summary>
    /// <param name="age">The age of the proof: for a request and its answer, the time since the request was sent.</param>
    void OnHeartbeat(TimeSpan age);

    /// <summary>Handles changes that may have been missed and cannot be delivered one by one: all entries in memory are removed.</summary>
    void OnMissed();

    /// <summary>
    /// Handles a refusal: the server does not let the channel receive changes, for example because its user may not subscribe. Callers that wait
    /// for the first heartbeat continue without it. The channel tries again, and reports a heartbeat when it succeeds. Does nothing by default.
    /// </summary>
    void OnRefused()
    {
    }
}
