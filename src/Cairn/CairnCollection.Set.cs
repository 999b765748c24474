using System.Buffers;
using System.Buffers.Text;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn;

// Writing. Each write takes the lock of the key's partition for a fraction of a microsecond.
public unsafe partial class CairnCollection
{
    private const int LongestNumber = 20;

    /// <summary>Stores a value, replacing any earlier one.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>, copied before the call returns.</param>
    /// <param name="expiration">When it expires; the default is the collection's. A moment that has passed removes the key.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>
    /// False if the value could not be stored, because a stopped process holds the lock or everything is pinned by readers. The
    /// earlier value is gone either way: it is never left readable. Never false where entries are kept.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public bool Set(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0) =>
        (flags == 0 && TryReplacePlain(key, value, expiration))
        || WriteValue(key, value, expiration, flags, WriteCondition.Always, 0) == WriteStatus.Stored;

    /// <summary>Stores a value that is read from a stream, without buffering it if it is long.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="source">Where the value is read from, without any lock being held; exactly <paramref name="valueBytes"/> bytes of it.</param>
    /// <param name="valueBytes">The value's length.</param>
    /// <param name="expiration">When it expires; the default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>False if the value could not be stored; the earlier value is then gone.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative, or longer than the store allows.</exception>
    /// <exception cref="EndOfStreamException">The stream ended early. The earlier value is as it was.</exception>
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
    /// <param name="items">The entries. Of two with the same key, the later one stays.</param>
    /// <returns>How many were stored; the earlier values of those that were not are gone.</returns>
    /// <remarks>Not atomic: readers may see some of the entries before others.</remarks>
    /// <exception cref="ArgumentOutOfRangeException">A value is longer than the store allows. Entries before it are stored.</exception>
    public int SetMany(ReadOnlySpan<StoreItem> items)
    {
        const int Ahead = 8;
        Engine.ThrowIfClosed();
        int stored = 0;
        for (int i = 0; i < items.Length; i++)
        {
            // The buckets of the keys to come are fetched while this one is written.
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
    /// <param name="expiration">When it expires; the default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.Exists"/>, or why it could not be done.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public WriteStatus Add(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0) =>
        WriteValue(key, value, expiration, flags, WriteCondition.IfAbsent, 0);

    /// <summary>Stores a value if the key has one.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>.</param>
    /// <param name="expiration">When it expires; the default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.NotFound"/>, or why it could not be done.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public WriteStatus Replace(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0) =>
        WriteValue(key, value, expiration, flags, WriteCondition.IfPresent, 0);

    /// <summary>Stores a value if the key's value is still the one that was read.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>.</param>
    /// <param name="expectedVersion">The <see cref="EntryInfo.Version"/> that was read.</param>
    /// <param name="expiration">When it expires; the default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>
    /// <see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.VersionMismatch"/>, <see cref="WriteStatus.NotFound"/>, or why it
    /// could not be done.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public WriteStatus CompareAndSwap(
        CacheKey key, ReadOnlySpan<byte> value, ulong expectedVersion, Expiration expiration = default, uint flags = 0) =>
        WriteValue(key, value, expiration, flags, WriteCondition.IfVersion, expectedVersion);

    /// <summary>Adds bytes to the end of a value. Expiration and flags stay.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">What to add.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.NotFound"/>, or why it could not be done.</returns>
    public WriteStatus Append(CacheKey key, ReadOnlySpan<byte> value) => Join(key, value, isPrefix: false);

    /// <summary>Adds bytes to the beginning of a value. Expiration and flags stay.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">What to add.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.NotFound"/>, or why it could not be done.</returns>
    public WriteStatus Prepend(CacheKey key, ReadOnlySpan<byte> value) => Join(key, value, isPrefix: true);

    /// <summary>Adds to a number. Numbers are kept as decimal text, so that they are readable as values. Expiration and flags stay.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="delta">What to add; negative to subtract.</param>
    /// <param name="value">The number afterwards; 0 if it could not be done.</param>
    /// <param name="initialValue">The number to store if there is none; null to report <see cref="WriteStatus.NotFound"/> then.</param>
    /// <param name="expiration">When a number that is stored because there was none expires.</param>
    /// <returns>
    /// <see cref="WriteStatus.Stored"/>; <see cref="WriteStatus.NotFound"/>; <see cref="WriteStatus.NotANumber"/>;
    /// <see cref="WriteStatus.Overflow"/> if the sum leaves the range of <see cref="long"/>; or why it could not be done.
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

    /// <summary>Changes when a key's value expires.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="expiration">When it shall expire. A moment that has passed removes the key.</param>
    /// <returns><see cref="WriteStatus.Stored"/>, <see cref="WriteStatus.NotFound"/>, or why it could not be done.</returns>
    /// <remarks>Counts as a write of the same value: the version changes.</remarks>
    public WriteStatus Touch(CacheKey key, Expiration expiration) => Touch(key, expiration, expectedVersion: 0);

    /// <summary>Removes a key's value.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <returns>True if there was one. It is gone in any case.</returns>
    public bool Remove(CacheKey key) => Remove(key, WriteCondition.Always, 0) == WriteStatus.Stored;

    /// <summary>Removes a key's value if it is still the one that was read.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="expectedVersion">The <see cref="EntryInfo.Version"/> that was read.</param>
    /// <returns>
    /// <see cref="WriteStatus.Stored"/> if it was removed, <see cref="WriteStatus.VersionMismatch"/>, <see cref="WriteStatus.NotFound"/>, or
    /// why it could not be done.
    /// </returns>
    public WriteStatus Remove(CacheKey key, ulong expectedVersion) => Remove(key, WriteCondition.IfVersion, expectedVersion);

    /// <summary>Asks for the right to compute the value of a missing key, so that only one of many does.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="wait">
    /// How long to wait while another holds the lease: zero not at all; <see cref="Timeout.InfiniteTimeSpan"/> until it ends.
    /// </param>
    /// <param name="lease">The lease if the result is <see cref="LeaseStatus.Acquired"/>: set a value with it, then dispose it.</param>
    /// <returns>
    /// <see cref="LeaseStatus.Hit"/> as soon as there is a value, also while waiting; see the other values for the rest. Those who do not
    /// get the lease may read the expired value, if it is still there, with <see cref="TryGetStale"/>.
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

    // Straight into the file, because it may be 64 MiB: what another process scribbles over it before the sum is taken is taken for the value.
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

    // A new value for an entry that otherwise stays as it is.
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

    // The short way for keys that are bytes or short ASCII text, in the store's own collection. False if the long way must be taken.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryReplacePlain(CacheKey key, ReadOnlySpan<byte> value, Expiration expiration)
    {
        Engine.ThrowIfClosed();
        return _isPlain && expiration.Kind <= Expiration.ExpirationKind.None
            && (key.IsText ? TryReplacePlainText(key.Text, value) : TryReplacePlainBytes(key.Bytes, value));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryReplacePlainBytes(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if ((uint)(key.Length - 1) >= EntryView.MaxKeyBytes)
        {
            return false;
        }

        fixed (byte* bytes = key)
        {
            KeyPlacement place = Engine.Memory.Place(Engine.Memory.HashKey(bytes, key.Length, 0));
            return Engine.TryReplacePlain(
                new BytesKey(bytes, key.Length), place, ref MemoryMarshal.GetReference(value), value.Length);
        }
    }

    private bool TryReplacePlainText(ReadOnlySpan<char> key, ReadOnlySpan<byte> value)
    {
        if (!AsciiKey.TryCreate(key, out AsciiKey ascii))
        {
            return false;
        }

        KeyPlacement place = Engine.Memory.Place(ascii.Hash(Engine.Memory.KeySeed));
        return Engine.TryReplacePlain(ascii, place, ref MemoryMarshal.GetReference(value), value.Length);
    }
}
