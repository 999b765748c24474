using Cairn.Concurrency;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;

namespace Cairn;

// Read operations. They take no lock. The only shared data that they write is the hint that an entry was used.
public sealed unsafe partial class CairnCollection
{
    /// <summary>Copies a key's value.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="destination">The buffer for the value. Its content is undefined if the result is false.</param>
    /// <param name="bytesWritten">
    /// The value's length if the result is true. If the destination is too short, the length that is needed, which is never 0. 0 for a miss.
    /// </param>
    /// <returns>True if there was a value and it fitted into the destination.</returns>
    public bool TryGet(CacheKey key, Span<byte> destination, out int bytesWritten)
    {
        int length = TryGetPlain(key, destination, out _, out _);
        if (length >= 0)
        {
            bytesWritten = length;
            return true;
        }

        if (length == StoreEngine.Missing)
        {
            bytesWritten = 0;
            return false;
        }

        bool isHit = TryGetEncoded(key, destination, out EntryInfo info);
        bytesWritten = info.ValueBytes;
        return isHit;
    }

    /// <summary>Copies a key's value and returns the entry's information.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="destination">The buffer for the value. Its content is undefined if the result is false.</param>
    /// <param name="info">The entry's information, also if the destination is too short. All zero for a miss.</param>
    /// <returns>True if there was a value and it fitted into the destination.</returns>
    public bool TryGet(CacheKey key, Span<byte> destination, out EntryInfo info)
    {
        int length = TryGetPlain(key, destination, out ulong version, out long deadline);
        if (length >= 0)
        {
            info = EntryInfo.Plain(length, version, deadline);
            return true;
        }

        if (length == StoreEngine.Missing)
        {
            info = default;
            return false;
        }

        return TryGetEncoded(key, destination, out info);
    }

    /// <summary>Copies a key's value. It also copies a value that has expired, as long as the store still has it.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="destination">The buffer for the value. Its content is undefined if the result is false.</param>
    /// <param name="info">The entry's information, also if the destination is too short. All zero for a miss.</param>
    /// <returns>
    /// True if there was a value and it fitted into the destination. <see cref="EntryInfo.ExpiresAt"/> shows whether the value has expired.
    /// </returns>
    public bool TryGetStale(CacheKey key, Span<byte> destination, out EntryInfo info)
    {
        Engine.ThrowIfClosed();
        if (_cipher is not null)
        {
            return TryGetSealed(key, destination, acceptStale: true, out info);
        }

        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            ReadOutcome outcome = Engine.TryGet(
                Engine.Place(bytes, encoded.Bytes.Length, Number), destination, acceptStale: true, out info);
            encoded.Release();
            return outcome == ReadOutcome.Hit;
        }
    }

    /// <summary>Copies a key's value to the end of a buffer.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="destination">The buffer to which the value is added. It stays unchanged if the result is false.</param>
    /// <returns>True if there was a value.</returns>
    public bool TryGet(CacheKey key, IBufferWriter<byte> destination) => TryGet(key, destination, out _);

    /// <summary>Copies a key's value to the end of a buffer and returns the entry's information.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="destination">The buffer to which the value is added. It stays unchanged if the result is false.</param>
    /// <param name="info">The entry's information. All zero for a miss.</param>
    /// <returns>True if there was a value.</returns>
    public bool TryGet(CacheKey key, IBufferWriter<byte> destination, out EntryInfo info)
    {
        ArgumentNullException.ThrowIfNull(destination);
        Span<byte> target = destination.GetSpan(256);
        while (!TryGet(key, target, out info))
        {
            if (info.ValueBytes <= target.Length)
            {
                return false;
            }

            target = destination.GetSpan(info.ValueBytes);
        }

        destination.Advance(info.ValueBytes);
        return true;
    }

    /// <summary>Returns a copy of a key's value in a new array.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <returns>The value, or null for a miss.</returns>
    public byte[]? Get(CacheKey key)
    {
        Span<byte> small = stackalloc byte[512];
        if (TryGet(key, small, out EntryInfo info))
        {
            return small[..info.ValueBytes].ToArray();
        }

        while (info.ValueBytes > 0)
        {
            byte[] value = GC.AllocateUninitializedArray<byte>(info.ValueBytes);
            if (TryGet(key, value, out info))
            {
                return info.ValueBytes == value.Length ? value : value.AsSpan(0, info.ValueBytes).ToArray();
            }
        }

        return null;
    }

    /// <summary>Returns a key's value as text.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <returns>The value, decoded as UTF-8, or null for a miss. Bytes that are not UTF-8 become U+FFFD.</returns>
    public string? GetString(CacheKey key)
    {
        Span<byte> small = stackalloc byte[512];
        if (TryGet(key, small, out EntryInfo info))
        {
            return Encoding.UTF8.GetString(small[..info.ValueBytes]);
        }

        return info.ValueBytes > 0 && Get(key) is { } value ? Encoding.UTF8.GetString(value) : null;
    }

    /// <summary>
    /// Copies a key's value to the end of a buffer without side effects. The read counts neither as a hit nor as a miss nor as a use, and it does not
    /// extend a sliding expiration. This method is for tools that inspect a store.
    /// </summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="destination">The buffer to which the value is added. It stays unchanged if the result is false.</param>
    /// <param name="info">The entry's information. All zero for a miss.</param>
    /// <returns>True if there was a value.</returns>
    public bool TryPeek(CacheKey key, IBufferWriter<byte> destination, out EntryInfo info) => TryPeek(key, destination, out info, acceptHash: false);

    /// <summary>Does the same as the public overload. If <paramref name="acceptHash"/> is true, it also copies the bytes of a hash.</summary>
    internal bool TryPeek(CacheKey key, IBufferWriter<byte> destination, out EntryInfo info, bool acceptHash)
    {
        ArgumentNullException.ThrowIfNull(destination);
        Engine.ThrowIfClosed();
        if (_cipher is not null)
        {
            return TryPeekSealed(key, destination, out info);
        }

        Pin pin;
        ulong hash;
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            KeyRef place = Engine.Place(bytes, encoded.Bytes.Length, Number);
            hash = place.Place.Hash;
            PinOrCopy(place, PinTerm.Brief, out pin, isUse: false, acceptHash);
        }

        encoded.Release();
        info = pin.Info;
        if (!pin.IsHeld)
        {
            return false;
        }

        using (pin)
        {
            if (!Engine.TryCopyPinned(hash, pin, destination.GetSpan(Math.Max(1, info.ValueBytes))))
            {
                info = default;
                return false;
            }

            destination.Advance(info.ValueBytes);
            return true;
        }
    }

    /// <summary>Returns the information of a key's entry without its value. Does not count as a use.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="info">The entry's information. All zero for a miss.</param>
    /// <returns>True if there is a value.</returns>
    public bool TryGetInfo(CacheKey key, out EntryInfo info)
    {
        Engine.ThrowIfClosed();
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        KeyTag tag;
        fixed (byte* bytes = encoded.Bytes)
        {
            bool isHit = Engine.TryGetInfo(Place(bytes, encoded.Bytes.Length, &tag), acceptStale: false, out info);
            if (isHit && _cipher is not null)
            {
                // The length can be forged here. A read of the value detects that.
                info = info.WithValueBytes(Math.Max(0, info.ValueBytes - StoreCipher.SealedBytes(encoded.Bytes.Length, 0)));
            }

            encoded.Release();
            return isHit;
        }
    }

    /// <summary>Returns whether a key has a value. Does not count as a use.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <returns>True if there is a value.</returns>
    public bool Contains(CacheKey key) => TryGetInfo(key, out _);

    /// <summary>Copies a key's value and changes its expiration.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="expiration">The new expiration.</param>
    /// <param name="destination">The buffer for the value.</param>
    /// <param name="info">The entry's information at the time of the read. All zero for a miss.</param>
    /// <returns>True if there was a value and it fitted into the destination. The expiration is changed even if the value did not fit.</returns>
    public bool TryGetAndTouch(CacheKey key, Expiration expiration, Span<byte> destination, out EntryInfo info)
    {
        while (true)
        {
            // Only the version that was read is touched. If another writer has replaced it meanwhile, the loop reads the new value.
            bool isHit = TryGet(key, destination, out info);
            if (info.Version == 0 || Touch(key, expiration, info.Version) != WriteStatus.VersionMismatch)
            {
                return isHit;
            }
        }
    }

    /// <summary>Reads a value in place, without copying it.</summary>
    /// <typeparam name="TState">The type of <paramref name="state"/>.</typeparam>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="state">An argument for the reader, so that the reader needs no closure.</param>
    /// <param name="reader">
    /// Called once if there is a value. During the call the bytes stay in place, and the segment that holds them cannot be evicted. The call must be brief.
    /// </param>
    /// <returns>True if there was a value.</returns>
    public bool Read<TState>(CacheKey key, TState state, EntryReader<TState> reader)
        where TState : allows ref struct
    {
        ArgumentNullException.ThrowIfNull(reader);
        Engine.ThrowIfClosed();
        if (_cipher is not null)
        {
            return ReadSealed(key, state, reader);
        }

        Pin pin;
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            PinOrCopy(Engine.Place(bytes, encoded.Bytes.Length, Number), PinTerm.Brief, out pin);
        }

        encoded.Release();
        if (!pin.IsHeld)
        {
            return false;
        }

        using (pin)
        {
            reader(pin.Value, pin.Info, state);
            return true;
        }
    }

    /// <summary>Pins a value. The value stays in place in the store's memory until the result is disposed.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="pinned">The value, if the result is true.</param>
    /// <returns>True if there was a value.</returns>
    /// <remarks>
    /// This method never waits. If this opening of the store already pins values in 48 other segments, the result is a copy in unmanaged memory. For an
    /// encrypted store the result is always a decrypted copy, and <see cref="Read"/> reads a decrypted copy too.
    /// </remarks>
    public bool TryPin(CacheKey key, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out PinnedValue? pinned)
    {
        Engine.ThrowIfClosed();
        if (_cipher is not null)
        {
            return (pinned = PinSealed(key)) is not null;
        }

        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            PinOrCopy(Engine.Place(bytes, encoded.Bytes.Length, Number), PinTerm.Lasting, out Pin pin);
            pinned = pin.IsHeld ? new PinnedValue(pin) : null;
        }

        encoded.Release();
        return pinned is not null;
    }

    /// <summary>Opens a value as a stream. The value stays pinned until the stream is disposed.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <returns>A seekable, read-only stream, or null for a miss.</returns>
    public Stream? OpenRead(CacheKey key) => TryPin(key, out PinnedValue? pinned) ? new PinnedValueStream(pinned) : null;

    /// <summary>
    /// Copies the values of many keys. This is several times faster than one call per key, because the memory of several keys is fetched together.
    /// </summary>
    /// <param name="keys">The keys, each 1 to 65,536 bytes.</param>
    /// <param name="buffer">The buffer for the values. They are stored one after the other.</param>
    /// <param name="results">Receives one result for each key. It must be at least as long as <paramref name="keys"/>.</param>
    /// <returns>
    /// The number of keys that were looked up. It is less than all keys if a value did not fit into the rest of the buffer. The lookup stops before that
    /// key.
    /// </returns>
    /// <exception cref="ArgumentException">There are fewer results than keys, or the length of a key is outside its range.</exception>
    public int GetMany(ReadOnlySpan<ReadOnlyMemory<byte>> keys, Span<byte> buffer, Span<GetManyResult> results)
    {
        const int BatchKeys = 16;
        Engine.ThrowIfClosed();
        if (results.Length < keys.Length)
        {
            throw new ArgumentException($"There are {keys.Length:N0} keys, but room for only {results.Length:N0} results.", nameof(results));
        }

        if (_cipher is not null)
        {
            return GetManySealed(keys, buffer, results);
        }

        KeyPlacement* places = stackalloc KeyPlacement[BatchKeys];
        int used = 0;
        for (int first = 0; first < keys.Length; first += BatchKeys)
        {
            ReadOnlySpan<ReadOnlyMemory<byte>> batch = keys.Slice(first, Math.Min(BatchKeys, keys.Length - first));
            for (int i = 0; i < batch.Length; i++)
            {
                ReadOnlySpan<byte> key = new EncodedKey(batch[i].Span, default).Bytes;
                fixed (byte* bytes = key)
                {
                    places[i] = Engine.Memory.Place(Engine.Memory.HashKey(bytes, key.Length, Number));
                }

                Engine.PrefetchBucket(places[i]);
            }

            for (int i = 0; i < batch.Length; i++)
            {
                Engine.PrefetchEntry(places[i]);
            }

            for (int i = 0; i < batch.Length; i++)
            {
                if (!TryGetOne(batch[i].Span, places[i], buffer[used..], used, out GetManyResult result))
                {
                    return first + i;
                }

                results[first + i] = result;
                used += result.Info.ValueBytes;
            }
        }

        return keys.Length;
    }

    // Returns false if the value does not fit.
    private bool TryGetOne(ReadOnlySpan<byte> key, in KeyPlacement place, Span<byte> buffer, int offset, out GetManyResult result)
    {
        fixed (byte* bytes = key)
        {
            int length = TryGetPlain(new BytesKey(bytes, key.Length), place.Hash, buffer, out ulong version, out long deadline);
            if (length is >= 0 or StoreEngine.Missing)
            {
                result = length >= 0 ? new GetManyResult(true, offset, EntryInfo.Plain(length, version, deadline)) : new GetManyResult(false, offset, default);
                return true;
            }

            ReadOutcome outcome = Engine.TryGet(
                new KeyRef(bytes, key.Length, Number, place), buffer, acceptStale: false, out EntryInfo info);
            result = new GetManyResult(outcome == ReadOutcome.Hit, offset, info);
            return outcome != ReadOutcome.TooShort;
        }
    }

    // The fast path for keys that are bytes or short ASCII text. Returns StoreEngine.Missing for a miss, which it counts, and -1 if the caller must take the
    // slow path.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int TryGetPlain(CacheKey key, Span<byte> destination, out ulong version, out long deadline)
    {
        Engine.ThrowIfClosed();
        if (!_isPlain)
        {
            return TryGetNamed(key, destination, out version, out deadline);
        }

        return key.IsText
            ? TryGetPlainText(key.Text, default(StoreShape), destination, out version, out deadline)
            : TryGetPlainBytes(key.Bytes, default(StoreShape), destination, out version, out deadline);
    }

    // Not inlined: gets from the default collection stay short.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private int TryGetNamed(CacheKey key, Span<byte> destination, out ulong version, out long deadline)
    {
        if (_cipher is not null)
        {
            version = 0;
            deadline = 0;
            return -1;
        }

        return key.IsText
            ? TryGetPlainText(key.Text, _shape, destination, out version, out deadline)
            : TryGetPlainBytes(key.Bytes, _shape, destination, out version, out deadline);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int TryGetPlainBytes<TShape>(ReadOnlySpan<byte> key, TShape shape, Span<byte> destination, out ulong version, out long deadline)
        where TShape : struct, IReadableShape
    {
        if ((uint)(key.Length - 1) >= EntryView.MaxKeyBytes)
        {
            version = 0;
            deadline = 0;
            return -1;
        }

        fixed (byte* bytes = key)
        {
            return TryGetPlain(
                new BytesKey(bytes, key.Length), shape, KeyHash.Compute(bytes, key.Length, _keySeed), destination, out version, out deadline);
        }
    }

    private int TryGetPlainText<TShape>(ReadOnlySpan<char> key, TShape shape, Span<byte> destination, out ulong version, out long deadline)
        where TShape : struct, IReadableShape
    {
        if (!AsciiKey.TryCreate(key, out AsciiKey ascii))
        {
            return TryGetPlainShort(key, shape, destination, out version, out deadline);
        }

        return TryGetPlain(ascii, shape, ascii.Hash(_keySeed), destination, out version, out deadline);
    }

    // Not inlined: otherwise a get by a longer key takes 10 ns more.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private int TryGetPlainShort<TShape>(ReadOnlySpan<char> key, TShape shape, Span<byte> destination, out ulong version, out long deadline)
        where TShape : struct, IReadableShape
    {
        if (!ShortAsciiKey.TryCreate(key, out ShortAsciiKey ascii))
        {
            version = 0;
            deadline = 0;
            return -1;
        }

        return TryGetPlain(ascii, shape, ascii.Hash(_keySeed), destination, out version, out deadline);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int TryGetPlain(BytesKey key, ulong hash, Span<byte> destination, out ulong version, out long deadline) =>
        Number == 0
            ? TryGetPlain(key, default(StoreShape), hash, destination, out version, out deadline)
            : TryGetPlain(key, _shape, hash, destination, out version, out deadline);

    // Also counts a miss. Takes the hash, because a place that is passed by reference is not kept in registers: 10 ns more.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int TryGetPlain<TKey, TShape>(TKey key, TShape shape, ulong hash, Span<byte> destination, out ulong version, out long deadline)
        where TKey : struct, IPlainKey
        where TShape : struct, IReadableShape
    {
        KeyPlacement place = Engine.Memory.Place(hash);
        int length = Engine.TryGetPlain(
            key, shape, place, ref MemoryMarshal.GetReference(destination), destination.Length, isExact: false, out version, out deadline);
        if (length == StoreEngine.Missing)
        {
            Engine.CountMiss(place.Partition);
        }

        return length;
    }

    // The slow path. It is a separate method because it encodes text into a buffer on the stack. Callers with keys of bytes do not need that buffer.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryGetEncoded(CacheKey key, Span<byte> destination, out EntryInfo info)
    {
        if (_cipher is not null)
        {
            return TryGetSealed(key, destination, acceptStale: false, out info);
        }

        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        fixed (byte* bytes = encoded.Bytes)
        {
            KeyRef place = Engine.Place(bytes, encoded.Bytes.Length, Number);
            if (IsPlainText(key, place.Length))
            {
                int length = TryGetPlain(new BytesKey(bytes, place.Length), place.Place.Hash, destination, out ulong version, out long deadline);
                if (length is >= 0 or StoreEngine.Missing)
                {
                    encoded.Release();
                    info = length >= 0 ? EntryInfo.Plain(length, version, deadline) : default;
                    return length >= 0;
                }
            }

            ReadOutcome outcome = Engine.TryGet(place, destination, acceptStale: false, out info);
            encoded.Release();
            return outcome == ReadOutcome.Hit;
        }
    }

    // Returns whether the fast path was not tried, because the text is not ASCII or too long for registers, and can be tried with the encoded bytes.
    private static bool IsPlainText(CacheKey key, int encodedLength) =>
        key.IsText && (encodedLength > AsciiKey.MaxLength || encodedLength != key.Text.Length);

    // The pin is not held for a miss. The calling thread never waits for a hazard cell. Another caller could hold all cells for a long time, or this thread
    // could hold them itself.
    private void PinOrCopy(in KeyRef key, PinTerm term, out Pin pin, bool isUse = true, bool acceptHash = false) =>
        Engine.TryPin(key, term, out pin, mostCopied: long.MaxValue, isUse, acceptHash: acceptHash);
}
