using System.Runtime.CompilerServices;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Server.Notifications;

namespace Cairn.Server.Memcached;

// The keyspace events of memcached's commands. Each is the event of the nearest command of Redis; docs/protocols.md has the table.
internal sealed unsafe partial class MemcachedSession
{
    /// <summary>A value was stored whole. The expiration is the one that it was stored with.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void NotifySet(in KeyRef key, in ResolvedExpiration expiration)
    {
        if (_events.IsOn)
        {
            NotifySetSlow(key, expiration);
        }
    }

    // As SET with a time: the value first, then the time. A value whose time had passed when it was written has expired at once.
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

    /// <summary>A value has another time to live. One in the past has removed it.</summary>
    private void NotifyTouched(in KeyRef key, in ResolvedExpiration expiration) =>
        _events.Notify(
            EventClasses.Generic, expiration.IsNever ? "persist"u8 : expiration.IsPast ? "del"u8 : "expire"u8,
            new ReadOnlySpan<byte>(key.Bytes, key.Length));

    private void NotifyDeleted(in KeyRef key) =>
        _events.Notify(EventClasses.Generic, "del"u8, new ReadOnlySpan<byte>(key.Bytes, key.Length));

    private void NotifyString(in KeyRef key, ReadOnlySpan<byte> name) =>
        _events.Notify(EventClasses.Strings, name, new ReadOnlySpan<byte>(key.Bytes, key.Length));

    /// <summary>A command found no value. An expired one is dropped, as Redis does, so that its event is sent.</summary>
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
