using System.Runtime.CompilerServices;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn;

/// <summary>A named part of a store with keys of its own. The store itself is the collection without a name.</summary>
/// <remarks>
/// <para>
/// Every operation is safe from any thread of any process that has the store open. Operations on one key are linearizable: each takes
/// effect at one moment between its call and its return. There is no order between keys.
/// </para>
/// <para>
/// Any entry may be evicted at any time: this is a cache, unless the collection was created with <see cref="StoreRegion.Keep"/>. A write whose process is
/// killed in the middle either happened or did not.
/// </para>
/// <para>
/// Every operation throws <see cref="ArgumentException"/> for a key that is empty, longer than 65,536 bytes, or text with a lone
/// surrogate, and <see cref="ObjectDisposedException"/> once the store is closed. Where entries are kept, every write that finds no room throws
/// <see cref="StoreFullException"/>; a set or removal that cannot have the lock, <see cref="StoreBusyException"/>; and every read of a
/// damaged entry, <see cref="StoreCorruptException"/>.
/// </para>
/// </remarks>
public unsafe partial class CairnCollection
{
    // Null unless the store is encrypted (CairnCollection.Encrypted).
    private readonly StoreCipher? _cipher;

    // The store's own collection, not encrypted: there are short ways for it.
    private readonly bool _isPlain;

    internal CairnCollection(StoreEngine engine, string name, uint number)
    {
        Engine = engine;
        Name = name;
        Number = number;
        _cipher = engine.Cipher;
        _isPlain = number == 0 && _cipher is null;
    }

    /// <summary>The collection's name; empty for the store itself.</summary>
    public string Name { get; }

    internal StoreEngine Engine { get; }

    internal uint Number { get; }

    /// <summary>Removes everything in the collection, at once and at no cost: what is there becomes unreadable and is evicted later.</summary>
    /// <returns>False if a part could not be cleared within the lock's time-out, because a process that holds its lock is stopped.</returns>
    public bool Clear()
    {
        Engine.ThrowIfClosed();
        return Engine.Clear(Number, isAll: false);
    }

    internal WriteStatus WriteValue(
        CacheKey key, ReadOnlySpan<byte> value, Expiration expiration, uint flags, WriteCondition condition, ulong expectedVersion,
        bool isQuiet = false)
    {
        Engine.ThrowIfClosed();
        if (value.Length > LongestValueBytes)
        {
            ThrowValueTooLong(value.Length);
        }

        var content = new EntryContent
        {
            Type = EntryType.Value,
            Flags = flags,
            Expiration = expiration.Kind == Expiration.ExpirationKind.Default && Number == 0
                ? ResolvedExpiration.Never
                : ResolvedExpiration.From(expiration, Engine.Memory, Number, Engine.Clock),
            First = value,
            IsQuiet = isQuiet,
        };
        if (_cipher is not null)
        {
            return WriteSealed(key, content, condition, expectedVersion);
        }

        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            WriteStatus status = Engine.Write(
                Engine.Place(bytes, encoded.Bytes.Length, Number), content, condition, expectedVersion, out _);
            encoded.Release();
            return status;
        }
    }

    /// <summary>As <see cref="AcquireLease"/>, for those who wait by other means than blocking a thread.</summary>
    /// <remarks>
    /// With <paramref name="replacesValue"/> also on a value that has not expired. One that is too long to carry a lease is a hit, and
    /// <paramref name="version"/> is then its version.
    /// </remarks>
    internal LeaseStatus TryAcquireLease(
        CacheKey key, bool replacesValue, TimeSpan duration, TimeSpan lockTimeout, out StoreLease? lease, out ulong version)
    {
        Engine.ThrowIfClosed();
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        KeyTag tag;
        fixed (byte* bytes = encoded.Bytes)
        {
            LeaseStatus status = Engine.TryAcquireLease(
                Place(bytes, encoded.Bytes.Length, &tag), replacesValue, duration, lockTimeout, out version);
            lease = status == LeaseStatus.Acquired ? new StoreLease(this, encoded.Bytes.ToArray(), version) : null;
            encoded.Release();
            return status;
        }
    }

    /// <summary>
    /// As <see cref="Add"/>, but does not tell caches above. For a value that stands for none having been there: what they hold stays right.
    /// </summary>
    internal WriteStatus AddQuietly(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration) =>
        WriteValue(key, value, expiration, flags: 0, WriteCondition.IfAbsent, 0, isQuiet: true);

    /// <summary>A use of a value that was read above: extends its life if it slides, and keeps it from eviction. No change of it.</summary>
    internal bool TryUse(CacheKey key)
    {
        Engine.ThrowIfClosed();
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        KeyTag tag;
        fixed (byte* bytes = encoded.Bytes)
        {
            bool isFound = Engine.TryUse(Place(bytes, encoded.Bytes.Length, &tag));
            encoded.Release();
            return isFound;
        }
    }

    internal bool IsLeaseHeld(byte[] key, ulong version)
    {
        Engine.ThrowIfClosed();
        KeyTag tag;
        fixed (byte* bytes = key)
        {
            return Engine.IsLeaseHeld(Place(bytes, key.Length, &tag), version);
        }
    }

    internal void GiveUpLease(byte[] key, ulong version)
    {
        if (Engine.IsClosed)
        {
            return;
        }

        KeyTag tag;
        fixed (byte* bytes = key)
        {
            Engine.GiveUpLease(Place(bytes, key.Length, &tag), version);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ThrowValueTooLong(long length) => throw new ArgumentOutOfRangeException(
        "value",
        length,
        $"A value in this store has at most {LongestValueBytes:N0} bytes: the smaller of 64 MiB and an eighth of the capacity" +
        (_cipher is null ? "." : ", less what encryption takes."));
}
