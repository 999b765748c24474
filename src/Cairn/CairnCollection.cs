using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Keys;

namespace Cairn;

/// <summary>
/// A part of a store that has its own keys. It is <see cref="CairnStore.DefaultCollection"/>, or has a name (<see cref="CairnStore.Collection"/>).
/// </summary>
/// <remarks>
/// <para>
/// Every operation is safe from any thread of any process that has the store open. Operations on one key are linearizable: each takes effect at one moment
/// between its call and its return. Operations on different keys have no defined order.
/// </para>
/// <para>
/// A collection is a cache: any entry can be evicted at any time, unless the collection was created with <see cref="StoreRegion.Keep"/>. If a process is
/// killed during a write, the write either happened completely or did not happen.
/// </para>
/// <para>
/// Every operation throws <see cref="ArgumentException"/> for a key that is empty, longer than 65,536 bytes, or text with a lone surrogate. It throws
/// <see cref="ObjectDisposedException"/> after the store is closed. Collections that keep their entries throw three more exceptions. Every write that finds
/// no room throws <see cref="StoreFullException"/>. A set or removal that cannot acquire the lock throws <see cref="StoreBusyException"/>. Every read of a
/// damaged entry throws <see cref="StoreCorruptException"/>.
/// </para>
/// </remarks>
public sealed unsafe partial class CairnCollection
{
    // Null if the store is not encrypted (CairnCollection.Encrypted).
    private readonly StoreCipher? _cipher;

    // True for the default collection if it is not encrypted. Its fast paths are the shortest.
    private readonly bool _isPlain;

    // For the fast paths. The shape is that of a named collection.
    private readonly ulong _keySeed;
    private readonly CollectionShape _shape;

    internal CairnCollection(CairnStore store, string name, uint number)
    {
        Store = store;
        Engine = store.Engine; // Its own copy: no operation reads a field of the store.
        Name = name;
        Number = number;
        _cipher = Engine.Cipher;
        _isPlain = number == 0 && _cipher is null;
        _keySeed = KeyHash.SeedOf(number, Engine.Memory.KeySeed);
        _shape = number == 0 ? default : new CollectionShape(number, Engine.Memory.IsKept(number), Engine.Memory.ChecksumSeed);
    }

    /// <summary>Gets the collection's name; empty for the default collection.</summary>
    public string Name { get; }

    /// <summary>Gets the store that contains the collection.</summary>
    /// <remarks>A collection keeps its store alive. The store's timers run as long as the program holds the store or one of its collections.</remarks>
    public CairnStore Store { get; }

    internal StoreEngine Engine { get; }

    internal uint Number { get; }

    /// <summary>Removes everything in the collection, immediately and at no cost. The entries become unreadable and are evicted later.</summary>
    /// <returns>
    /// False if a part could not be cleared within the lock's time-out, because a stopped process holds its lock.
    /// </returns>
    public bool Clear()
    {
        Engine.ThrowIfClosed();
        return Engine.Clear(Number, isAll: false);
    }

    /// <summary>Returns the partition of a key.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <returns>0 to <see cref="CairnStore.PartitionCount"/> - 1.</returns>
    public int PartitionOf(CacheKey key) => PlaceOf(key).Partition;

    /// <summary>Returns the hash by which <see cref="CairnStore.ReadInvalidations"/> reports a key.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <returns>The hash. It is the same in every process that has this store open. The same key has another hash in another collection.</returns>
    public ulong HashOf(CacheKey key) => PlaceOf(key).Hash;

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

    /// <summary>Does the same as <see cref="AcquireLease"/>, but never waits. It is for callers that wait without blocking a thread.</summary>
    /// <remarks>
    /// If <paramref name="replacesValue"/> is true, a value that has not expired can be leased too. A value that is too long to carry a lease is a hit, and
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
    /// Does the same as <see cref="Add"/>, but sends no invalidation to the caches above. It is for a value that records that the key was missing. The
    /// caches' entries stay correct.
    /// </summary>
    internal WriteStatus AddQuietly(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration) =>
        WriteValue(key, value, expiration, flags: 0, WriteCondition.IfAbsent, 0, isQuiet: true);

    /// <summary>
    /// Records that a cache above has used the value: extends a sliding expiration and protects the value from eviction. The value does not change.
    /// </summary>
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

    internal void ReleaseLease(byte[] key, ulong version)
    {
        if (Engine.IsClosed)
        {
            return;
        }

        KeyTag tag;
        fixed (byte* bytes = key)
        {
            Engine.ReleaseLease(Place(bytes, key.Length, &tag), version);
        }
    }

    private KeyPlacement PlaceOf(CacheKey key)
    {
        Engine.ThrowIfClosed();
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        KeyTag tag;
        fixed (byte* bytes = encoded.Bytes)
        {
            KeyPlacement place = Place(bytes, encoded.Bytes.Length, &tag).Place;
            encoded.Release();
            return place;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ThrowValueTooLong(long length) => throw new ArgumentOutOfRangeException(
        "value",
        length,
        $"A value in this store has at most {LongestValueBytes:N0} bytes: the smaller of 64 MiB and an eighth of the capacity" +
        (_cipher is null ? "." : ", less what encryption takes."));
}
