using System.Runtime.CompilerServices;
using Cairn.Keys;
using Cairn.Server.Notifications;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// The keyspace events of memcached's commands. Each command sends the event of the most similar Redis command; docs/protocols.md has the
// table.
internal sealed unsafe partial class MemcachedSession
{
    /// <summary>Reports that a value was stored, with its expiration.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void NotifySet(in KeyRef key, in ResolvedExpiration expiration)
    {
        if (_events.IsOn)
        {
            NotifySetSlow(key, expiration);
        }
    }

    // Like SET with an expiration: first the event of the value, then that of the expiration. A value that has expired when it is written
    // expires at once.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void NotifySetSlow(in KeyRef key, in ResolvedExpiration expiration)
    {
        var name = new ReadOnlySpan<byte>(key.Bytes, key.Length);
        _events.Notify(EventClasses.Strings, "set"u8, name);
        if (!expiration.IsNever)
        {
            _events.Notify(EventClasses.Generic, "expire"u8, name);
        }

        if (expiration.IsPast)
        {
            _events.Notify(EventClasses.Expired, "expired"u8, name);
        }
    }

    /// <summary>Reports a new expiration. An expiration in the past has removed the value.</summary>
    private void NotifyTouched(in KeyRef key, in ResolvedExpiration expiration) =>
        _events.Notify(
            EventClasses.Generic, expiration.IsNever ? "persist"u8 : expiration.IsPast ? "del"u8 : "expire"u8,
            new ReadOnlySpan<byte>(key.Bytes, key.Length));

    private void NotifyDeleted(in KeyRef key) =>
        _events.Notify(EventClasses.Generic, "del"u8, new ReadOnlySpan<byte>(key.Bytes, key.Length));

    private void NotifyString(in KeyRef key, ReadOnlySpan<byte> name) =>
        _events.Notify(EventClasses.Strings, name, new ReadOnlySpan<byte>(key.Bytes, key.Length));

    /// <summary>Reports that a command found no value. An expired entry is removed, as in Redis, so that its event is sent.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void OnMiss(in KeyRef key, bool isRead)
    {
        if (_events.IsOn)
        {
            NotifyMiss(key, isRead);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void NotifyMiss(in KeyRef key, bool isRead)
    {
        _events.OnMiss(_engine, key);
        if (isRead)
        {
            _events.Notify(EventClasses.KeyMiss, "keymiss"u8, new ReadOnlySpan<byte>(key.Bytes, key.Length));
        }
    }
}
