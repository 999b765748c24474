using Cairn.Keys;
using Cairn.Server.Notifications;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// The keyspace events of memcached's commands. Each command sends the event of the most similar Redis command; docs/protocols.md has the
// table.
internal sealed unsafe partial class EntryCommands
{
    /// <summary>Reports that a value was stored, with its expiration.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void NotifySet(in KeyRef key, in ResolvedExpiration expiration)
    {
        if (Events.IsOn)
        {
            NotifySetSlow(key, expiration);
        }
    }

    /// <summary>Reports a new expiration. An expiration in the past has removed the value.</summary>
    public void NotifyTouched(in KeyRef key, in ResolvedExpiration expiration) =>
        Events.Notify(
            EventClasses.Generic, expiration.IsNever ? "persist"u8 : expiration.IsPast ? "del"u8 : "expire"u8, NameOf(key));

    /// <summary>Reports that a command found no value. An expired entry is removed, as in Redis, so that its event is sent.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void OnMiss(in KeyRef key, bool isRead)
    {
        if (Events.IsOn)
        {
            NotifyMiss(key, isRead);
        }
    }

    // Like SET with an expiration: first the event of the value, then that of the expiration. A value that has expired when it is written
    // expires at once.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void NotifySetSlow(in KeyRef key, in ResolvedExpiration expiration)
    {
        Events.Notify(EventClasses.Strings, "set"u8, NameOf(key));
        if (!expiration.IsNever)
        {
            Events.Notify(EventClasses.Generic, "expire"u8, NameOf(key));
        }

        if (expiration.IsPast)
        {
            Events.Notify(EventClasses.Expired, "expired"u8, NameOf(key));
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void NotifyMiss(in KeyRef key, bool isRead)
    {
        Events.OnMiss(_engine, key);
        if (isRead)
        {
            Events.Notify(EventClasses.KeyMiss, "keymiss"u8, NameOf(key));
        }
    }
}
