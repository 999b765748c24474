using System.Buffers.Text;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;

namespace Cairn;

// Write operations. Each write holds the lock of the key's partition for a fraction of a microsecond.
public sealed unsafe partial class CairnCollection
{
    private const int LongestNumber = 20;

    /// <summary>Stores a value. It replaces an earlier value.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>, copied before the call returns.</param>
    /// <param name="expiration">When the value expires. The default is the collection's. A moment that has passed removes the key.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>
    /// False if the value could not be stored, because a stopped process holds the lock, or because readers pin everything. The earlier value is then
    /// removed too, so that a reader never finds an outdated value. Never false if the collection keeps its entries.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public bool Set(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0) =>
        (flags == 0 && TryReplacePlain(key, value, expiration))
        || WriteValue(key, value, expiration, flags, WriteCondition.Always, 0) == WriteStatus.Stored;

    /// <summary>Stores a value from a stream. A long value is not buffered.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="source">
    /// The stream with the value. The method reads exactly <paramref name="valueBytes"/> bytes from it and holds no lock meanwhile.
    /// </param>
    /// <param name="valueBytes">The length of the value in bytes.</param>
    /// <param name="expiration">When the value expires. The default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>False if the value could not be stored. The earlier value is then removed.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative, or longer than the store allows.</exception>
    /// <exception cref="EndOfStreamException">The stream ended early. The earlier value is unchanged.</exception>
    public bool Set(CacheKey key, Stream source, int valueBytes, Expiration expiration = default, uint flags = 0)
    {
        ArgumentNullException.ThrowIfNull(source);
        ArgumentOutOfRangeException.ThrowIfNegative(valueBytes);
        Engine.ThrowIfClosed();
        if (valueBytes > LongestValueBytes)
        {
            ThrowValueTooLong(valueBytes);
        }

        ResolvedExpiration resolved = ResolvedExpiration.From(expiration, Engine.Memory, Number, Engine.Clock);
        if (valueBytes <= StoreEngine.LongestLockedCopy || resolved.IsPast || _cipher is not null)
        {
            byte[] rented = ArrayPool<byte>.Shared.Rent(valueBytes);
            try
            {
                source.ReadExactly(rented, 0, valueBytes);
                return Set(key, rented.AsSpan(0, valueBytes), expiration, flags);
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(rented);
            }
        }

        var content = new EntryContent { Type = EntryType.Value, Flags = flags, Expiration = resolved };
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            WriteStatus status = Engine.WriteStreamed(
                Engine.Place(bytes, encoded.Bytes.Length, Number), content, valueBytes, source,
                ReadFrom,
                WriteCondition.Always, 0, out _);
            encoded.Release();
            return status == WriteStatus.Stored || Engine.ThrowIfKept(Engine.Place(bytes, encoded.Bytes.Length, Number), status);
        }
    }

    /// <summary>Stores many values.</summary>
    /// <param name="items">The entries. If two entries have the same key, the later one remains.</param>
    /// <returns>The number of entries that were stored. The earlier values of the other entries are removed.</returns>
    /// <remarks>The operation is not atomic. Readers can see some of the entries before others.</remarks>
    /// <exception cref="ArgumentOutOfRangeException">A value is longer than the store allows. The entries before it are stored.</exception>
    public int SetMany(ReadOnlySpan<StoreItem> items)
    {
        const int Ahead = 8;
        Engine.ThrowIfClosed();
        int stored = 0;
        for (int i = 0; i < items.Length; i++)
        {
            // The buckets of the next keys are prefetched while this key is written.
            if (i % Ahead == 0)
            {
                foreach (ref readonly StoreItem next in items[i..Math.Min(items.Length, i + Ahead)])
                {
                    Prefetch(next.Key.Span);
                }
            }

            ref readonly StoreItem item = ref items[i];
            stored += Set(item.Key.Span, item.Value.Span, item.Expiration, item.Flags) ? 1 : 0;
        }

        return stored;
    }

    /// <summary>Stores a value if the key has none.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>.</param>
    /// <param name="expiration">When the value expires. The default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.Exists"/>, or the reason why the write failed.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public WriteStatus Add(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0) =>
        WriteValue(key, value, expiration, flags, WriteCondition.IfAbsent, 0);

    /// <summary>Stores a value if the key has one.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>.</param>
    /// <param name="expiration">When the value expires. The default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.NotFound"/>, or the reason why the write failed.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public WriteStatus Replace(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0) =>
        WriteValue(key, value, expiration, flags, WriteCondition.IfPresent, 0);

    /// <summary>Stores a value if the key still has the version that was read.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>.</param>
    /// <param name="expectedVersion">The <see cref="EntryInfo.Version"/> that was read.</param>
    /// <param name="expiration">When the value expires. The default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>
    /// <see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.VersionMismatch"/>, <see cref="WriteStatus.NotFound"/>, or the reason why the write failed.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public WriteStatus CompareAndSwap(
        CacheKey key, ReadOnlySpan<byte> value, ulong expectedVersion, Expiration expiration = default, uint flags = 0) =>
        WriteValue(key, value, expiration, flags, WriteCondition.IfVersion, expectedVersion);

    /// <summary>Adds bytes to the end of a value. Expiration and flags do not change.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">The bytes to add.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.NotFound"/>, or the reason why the write failed.</returns>
    public WriteStatus Append(CacheKey key, ReadOnlySpan<byte> value) => Join(key, value, isPrefix: false);

    /// <summary>Adds bytes to the beginning of a value. Expiration and flags do not change.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">The bytes to add.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.NotFound"/>, or the reason why the write failed.</returns>
    public WriteStatus Prepend(CacheKey key, ReadOnlySpan<byte> value) => Join(key, value, isPrefix: true);

    /// <summary>
    /// Adds to a number. Numbers are stored as decimal text, so that they can be read as values. Expiration and flags do not change.
    /// </summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="delta">The amount to add. A negative amount is subtracted.</param>
    /// <param name="value">The new number, or 0 if the write failed.</param>
    /// <param name="initialValue">The number to store if the key has none. Null returns <see cref="WriteStatus.NotFound"/> in that case.</param>
    /// <param name="expiration">When <paramref name="initialValue"/> expires, if it is stored.</param>
    /// <returns>
    /// <see cref="WriteStatus.Stored"/>; <see cref="WriteStatus.NotFound"/>; <see cref="WriteStatus.NotANumber"/>; <see cref="WriteStatus.Overflow"/> if
    /// the sum is outside the range of <see cref="long"/>; or the reason why the write failed.
    /// </returns>
    public WriteStatus Increment(
        CacheKey key, long delta, out long value, long? initialValue = null, Expiration expiration = default)
    {
        value = 0;
        Span<byte> text = stackalloc byte[LongestNumber];
        while (true)
        {
            WriteStatus status;
            if (!TryGet(key, text, out EntryInfo info))
            {
                if (info.ValueBytes != 0)
                {
                    return WriteStatus.NotANumber;
                }

                if (initialValue is null)
                {
                    return WriteStatus.NotFound;
                }

                status = Add(key, Format(initialValue.Value, text), expiration);
                if (status != WriteStatus.Exists)
                {
                    value = status == WriteStatus.Stored ? initialValue.Value : 0;
                    return status;
                }

                continue;
            }

            if (!Utf8Parser.TryParse(text[..info.ValueBytes], out long number, out int consumed) || consumed != info.ValueBytes)
            {
                return WriteStatus.NotANumber;
            }

            long sum = unchecked(number + delta);
            if (((number ^ sum) & (delta ^ sum)) < 0)
            {
                return WriteStatus.Overflow;
            }

            status = Rewrite(key, Format(sum, text), info);
            if (status is not (WriteStatus.VersionMismatch or WriteStatus.NotFound))
            {
                value = status == WriteStatus.Stored ? sum : 0;
                return status;
            }
        }
    }

    /// <summary>Changes the expiration of a key's value.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="expiration">The new expiration. A moment that has passed removes the key.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.NotFound"/>, or the reason why the write failed.</returns>
    /// <remarks>The operation counts as a write of the same value. The version changes.</remarks>
    public WriteStatus Touch(CacheKey key, Expiration expiration) => Touch(key, expiration, expectedVersion: 0);

    /// <summary>Removes a key's value.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <returns>True if there was a value. The key has no value afterwards in either case.</returns>
    public bool Remove(CacheKey key) => Remove(key, WriteCondition.Always, 0) == WriteStatus.Stored;

    /// <summary>Removes a key's value if it still has the version that was read.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="expectedVersion">The <see cref="EntryInfo.Version"/> that was read.</param>
    /// <returns>
    /// <see cref="WriteStatus.Stored"/> if the value was removed, <see cref="WriteStatus.VersionMismatch"/>, <see cref="WriteStatus.NotFound"/>, or the
    /// reason why the removal failed.
    /// </returns>
    public WriteStatus CompareAndRemove(CacheKey key, ulong expectedVersion) => Remove(key, WriteCondition.IfVersion, expectedVersion);

    /// <summary>Tries to acquire the lease on a missing key, so that only one of many callers computes the value.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="wait">
    /// How long to wait while another caller holds the lease. Zero does not wait; <see cref="Timeout.InfiniteTimeSpan"/> waits until the lease ends.
    /// </param>
    /// <param name="lease">The lease if the result is <see cref="LeaseStatus.Acquired"/>. Set a value with it, then dispose it.</param>
    /// <returns>
    /// <see cref="LeaseStatus.Hit"/> as soon as there is a value, also during the wait. <see cref="LeaseStatus"/> describes the other results. A caller
    /// that does not get the lease can read the expired value with <see cref="TryGetStale"/>, if the store still has it.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">The wait is negative.</exception>
    public LeaseStatus AcquireLease(CacheKey key, TimeSpan wait, out StoreLease? lease)
    {
        if (wait != Timeout.InfiniteTimeSpan)
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(wait, TimeSpan.Zero);
        }

        Engine.ThrowIfClosed();
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        KeyTag tag;
        fixed (byte* bytes = encoded.Bytes)
        {
            LeaseStatus status = Engine.AcquireLease(
                Place(bytes, encoded.Bytes.Length, &tag), wait, StoreLease.Duration, out ulong version);
            lease = status == LeaseStatus.Acquired ? new StoreLease(this, encoded.Bytes.ToArray(), version) : null;
            encoded.Release();
            return status;
        }
    }

    // The value is read directly into the file, because it can be 64 MiB long. The checksum is computed afterwards. If another process overwrites these
    // bytes before that, the checksum covers the wrong bytes.
    private static uint ReadFrom(Span<byte> destination, scoped in Stream source, ulong checksumSeed)
    {
        source.ReadExactly(destination);
        fixed (byte* value = destination)
        {
            return ValueChecksum.Compute(value, destination.Length, checksumSeed);
        }
    }

    private static ReadOnlySpan<byte> Format(long number, Span<byte> text)
    {
        bool isFormatted = number.TryFormat(text, out int written, default, CultureInfo.InvariantCulture);
        System.Diagnostics.Debug.Assert(isFormatted, "A long has at most 20 characters.");
        return text[..written];
    }

    private WriteStatus Touch(CacheKey key, Expiration expiration, ulong expectedVersion)
    {
        Engine.ThrowIfClosed();
        ResolvedExpiration resolved = ResolvedExpiration.From(expiration, Engine.Memory, Number, Engine.Clock);
        if (_cipher is not null)
        {
            return TouchSealed(key, resolved, expectedVersion);
        }

        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            WriteStatus status = Engine.Touch(Engine.Place(bytes, encoded.Bytes.Length, Number), resolved, expectedVersion);
            encoded.Release();
            return status;
        }
    }

    private WriteStatus Remove(CacheKey key, WriteCondition condition, ulong expectedVersion)
    {
        Engine.ThrowIfClosed();
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        KeyTag tag;
        fixed (byte* bytes = encoded.Bytes)
        {
            WriteStatus status = Engine.Remove(Place(bytes, encoded.Bytes.Length, &tag), condition, expectedVersion);
            encoded.Release();
            return status;
        }
    }

    private WriteStatus Join(CacheKey key, ReadOnlySpan<byte> value, bool isPrefix)
    {
        Engine.ThrowIfClosed();
        if (_cipher is not null)
        {
            return JoinSealed(key, value, isPrefix);
        }

        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            WriteStatus status = Engine.Join(Engine.Place(bytes, encoded.Bytes.Length, Number), value, isPrefix);
            encoded.Release();
            return status;
        }
    }

    // Writes a new value for an entry. Everything else of the entry stays unchanged.
    private WriteStatus Rewrite(CacheKey key, ReadOnlySpan<byte> value, in EntryInfo info)
    {
        if (_cipher is not null)
        {
            return RewriteSealed(key, value, info);
        }

        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            WriteStatus status = Engine.Rewrite(Engine.Place(bytes, encoded.Bytes.Length, Number), value, info.Version);
            encoded.Release();
            return status;
        }
    }

    private void Prefetch(ReadOnlySpan<byte> key)
    {
        KeyTag tag;
        fixed (byte* bytes = key)
        {
            Engine.PrefetchBucket(Place(bytes, key.Length, &tag).Place);
        }
    }

    // The fast path for keys that are bytes or short ASCII text. Returns false if the caller must take the slow path.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryReplacePlain(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration)
    {
        Engine.ThrowIfClosed();
        if (!_isPlain || expiration.Kind > Expiration.ExpirationKind.None)
        {
            return TryReplaceUnusual(key, value, expiration);
        }

        return TryReplaceShaped(key, value, default(StoreShape));
    }

    // Replaces an entry that expires, or an entry of a named collection.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryReplaceUnusual(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration)
    {
        if (_cipher is not null || expiration.Kind == Expiration.ExpirationKind.Sliding
            || (Number != 0 && ((CollectionRecord*)Engine.Memory.CollectionRecord((int)Number))->IsLogged))
        {
            return false;
        }

        ResolvedExpiration resolved = ResolvedExpiration.From(expiration, Engine.Memory, Number, Engine.Clock);
        if (resolved.SlidingMs != 0 || resolved.IsPast || (Number == 0 && resolved.IsNever))
        {
            return false;
        }

        return resolved.IsNever ? TryReplaceShaped(key, value, _shape)
            : Number == 0 ? TryReplaceShaped(key, value, new ExpiringShape(resolved.Deadline, resolved.NowMs, Engine.Memory.ChecksumSeed))
            : TryReplaceShaped(key, value, new ExpiringCollectionShape(_shape, resolved.Deadline, resolved.NowMs, Engine.Memory.ChecksumSeed));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryReplaceShaped<TShape>(CacheKey key, ReadOnlySpan<byte> value, TShape shape)
        where TShape : struct, IPlainShape =>
        key.IsText ? TryReplacePlainText(key.Text, value, shape) : TryReplacePlainBytes(key.Bytes, value, shape);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryReplacePlainBytes<TShape>(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, TShape shape)
        where TShape : struct, IPlainShape
    {
        if ((uint)(key.Length - 1) >= EntryView.MaxKeyBytes)
        {
            return false;
        }

        fixed (byte* bytes = key)
        {
            return TryReplacePlain(new BytesKey(bytes, key.Length), KeyHash.Compute(bytes, key.Length, _keySeed), value, shape);
        }
    }

    private bool TryReplacePlainText<TShape>(ReadOnlySpan<char> key, ReadOnlySpan<byte> value, TShape shape)
        where TShape : struct, IPlainShape
    {
        if (!AsciiKey.TryCreate(key, out AsciiKey ascii))
        {
            return TryReplacePlainShort(key, value, shape);
        }

        return TryReplacePlain(ascii, ascii.Hash(_keySeed), value, shape);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryReplacePlainShort<TShape>(ReadOnlySpan<char> key, ReadOnlySpan<byte> value, TShape shape)
        where TShape : struct, IPlainShape =>
        ShortAsciiKey.TryCreate(key, out ShortAsciiKey ascii) && TryReplacePlain(ascii, ascii.Hash(_keySeed), value, shape);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryReplacePlain<TKey, TShape>(TKey key, ulong hash, ReadOnlySpan<byte> value, TShape shape)
        where TKey : struct, IPlainKey
        where TShape : struct, IPlainShape
    {
        KeyPlacement place = Engine.Memory.Place(hash);
        return Engine.TryReplacePlain(key, shape, place, ref MemoryMarshal.GetReference(value), value.Length, isExact: false);
    }
}
