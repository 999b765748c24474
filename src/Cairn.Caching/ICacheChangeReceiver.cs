namespace Cairn.Caching;

/// <summary>Is told of changes by <see cref="ICacheInvalidation"/>.</summary>
/// <remarks>
/// <para>Calls come one after the other, in the order in which the changes happened as far as the server can tell, and from any
/// thread. They return within microseconds as a rule, do no I/O, and throw nothing.</para>
/// <para>What is held in memory is trusted for two seconds after the last heartbeat. Whoever implements the channel therefore has
/// it beat at least twice a second: for example by a request over the connection that also brings the changes, answered after
/// all that came before it.</para>
/// </remarks>
public interface ICacheChangeReceiver
{
    /// <summary>A key, or every key with a prefix, was changed. Own changes are recognised by <see cref="CacheChange.Sender"/> and ignored.</summary>
    void OnChanged(in CacheChange change);

    /// <summary>
    /// The connection works, and all changes that were made before now less <paramref name="age"/> were told. After a connection was
    /// lost, the first heartbeat comes after what was missed was told, one by one or by <see cref="OnMissed"/>.
    /// </summary>
    /// <param name="age">How long ago what proves it was true: for a request and its answer, the time since the request was sent.</param>
    void OnHeartbeat(TimeSpan age);

    /// <summary>Changes may have been missed and cannot be told one by one: everything held in memory is dropped.</summary>
    void OnMissed();
}
