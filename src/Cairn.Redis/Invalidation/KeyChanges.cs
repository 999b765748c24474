using Cairn.Caching;

namespace Cairn.Redis.Invalidation;

/// <summary>Passes changed keys on to a subscriber that keeps no copies, and so needs no heartbeats.</summary>
internal sealed class KeyChanges(Action<string?> changed) : ICacheChangeReceiver
{
    public void OnChanged(in CacheChange change) => changed(change.IsPrefix ? null : change.Key);

    public void OnHeartbeat(TimeSpan age)
    {
    }

    public void OnMissed() => changed(null);
}
