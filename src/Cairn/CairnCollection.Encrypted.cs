using Cairn.Concurrency;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;

namespace Cairn;

// The operations on an encrypted store. They differ from the others in two points. The engine knows keys only by their tags. Values are decrypted after
// each read and encrypted before each write (StoreCipher).
// The engine cannot append to an encrypted value or change its expiration. Such an operation reads the value and writes it again, on the condition that the
// version has not changed.
public sealed unsafe partial class CairnCollection
{
    private const int SealedOnStack = 1024;

    /// <summary>
    /// Gets the length in bytes of the longest value. The key and the cipher's other data are stored with the value, so they reduce the engine's maximum.
    /// </summary>
    internal int LongestValueBytes =>
        _cipher is null
            ? Engine.Memory.MaxValueBytes
            : Math.Max(0, Engine.Memory.MaxValueBytes - StoreCipher.SealedBytes(EntryView.MaxKeyBytes, 0));

    /// <summary>Finds the place of a key.</summary>
    /// <param name="key">The key's bytes, pinned.</param>
    /// <param name="length">The number of bytes.</param>
    /// <param name="tag">Memory for the key's tag. It must stay valid as long as the result is used.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal KeyRef Place(byte* key, int length, KeyTag* tag) =>
        _cipher is null ? Engine.Place(key, length, Number) : PlaceTag(new ReadOnlySpan<byte>(key, length), tag);

    /// <summary>
    /// Visits an entry of an encrypted store that a scan has found by its tag. It skips the entry if it is gone, or if it was not encrypted with the
    /// store's key.
    /// </summary>
    internal static void VisitSealed(
        StoreEngine engine, StoreCipher cipher, ReadOnlySpan<byte> tagBytes, uint collection, OpenedVisitor visitor)
    {
        KeyTag tag = MemoryMarshal.Read<KeyTag>(tagBytes);
        KeyRef place = engine.Place((byte*)&tag, KeyTag.Bytes, collection);
        Span<byte> buffer = stackalloc byte[SealedOnStack];
        byte[]? rented = null;
        ReadOutcome outcome;
        EntryInfo info;
        while ((outcome = Peek(engine, place, buffer, out info)) == ReadOutcome.TooShort)
        {
            buffer = RentAnother(ref rented, info.ValueBytes);
        }

        if (outcome == ReadOutcome.Hit
            && cipher.TryOpen(
                tag, EntryTerms.Of(collection, info), buffer[..info.ValueBytes], out ReadOnlySpan<byte> key, out Span<byte> value))
        {
            visitor(key, value, info.WithValueBytes(value.Length), collection);
        }

        Return(rented);
    }

    /// <summary>Returns the key by which the engine knows an entry: the tag, or the key itself if the store is not encrypted.</summary>
    internal byte[] EngineKeyOf(byte[] key)
    {
        if (_cipher is null)
        {
            return key;
        }

        var tag = new byte[KeyTag.Bytes];
        MemoryMarshal.Write(tag, _cipher.TagOf(key, Number));
        return tag;
    }

    /// <summary>
    /// Returns the bytes that the engine stores as a key's value: the encrypted value, or the value itself if the store is not encrypted.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="flags">The flags with which the value will be written.</param>
    /// <param name="expiration">The expiration with which the value will be written.</param>
    internal byte[] EngineValueOf(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, uint flags, in ResolvedExpiration expiration)
    {
        if (_cipher is null)
        {
            return value.ToArray();
        }

        var bytes = new byte[StoreCipher.SealedBytes(key.Length, value.Length)];
        _cipher.Seal(_cipher.TagOf(key, Number), EntryTerms.Of(Number, flags, expiration), key, value, default, bytes);
        return bytes;
    }

    private static ReadOutcome Peek(StoreEngine engine, in KeyRef place, Span<byte> buffer, out EntryInfo info)
    {
        engine.TryPin(place, PinTerm.Brief, out Pin pin, mostCopied: long.MaxValue, isUse: false);
        using (pin)
        {
            info = pin.Info;
            return !pin.IsHeld ? ReadOutcome.Miss
                : info.ValueBytes > buffer.Length ? ReadOutcome.TooShort
                : engine.TryCopyPinned(place.Place.Hash, pin, buffer) ? ReadOutcome.Hit
                : ReadOutcome.Miss;
        }
    }

    private static byte[] RentAnother(ref byte[]? rented, int bytes)
    {
        Return(rented);
        return rented = ArrayPool<byte>.Shared.Rent(bytes);
    }

    private static void Return(byte[]? rented)
    {
        if (rented is not null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private KeyRef PlaceTag(ReadOnlySpan<byte> key, KeyTag* tag)
    {
        *tag = _cipher!.TagOf(key, Number);
        return Engine.Place((byte*)tag, KeyTag.Bytes, Number);
    }

    /// <summary>Reads and decrypts a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="acceptStale">True to return an expired value too.</param>
    /// <param name="isUse">True if the read counts as a use.</param>
    /// <param name="room">The length in bytes of the longest value that the caller accepts.</param>
    /// <param name="buffer">The buffer in which a short value is decrypted.</param>
    /// <param name="rented">The rented buffer in which a longer value is decrypted. The caller returns it when it no longer needs the value.</param>
    /// <param name="value">The value, if the result is true.</param>
    /// <param name="info">The entry's information, also if the value is longer than <paramref name="room"/>. All zero for a miss.</param>
    /// <returns>True if there is a value that is not longer than <paramref name="room"/>.</returns>
    private bool TryFetch(
        ReadOnlySpan<byte> key, bool acceptStale, bool isUse, int room, Span<byte> buffer, ref byte[]? rented,
        out ReadOnlySpan<byte> value, out EntryInfo info)
    {
        KeyTag tag = _cipher!.TagOf(key, Number);
        KeyPlacement placement = Engine.Memory.Place(tag.Hash(KeyHash.SeedOf(Number, Engine.Memory.KeySeed)));

        // A value longer than the caller accepts is not read, so it does not count as a use.
        buffer = buffer[..(int)Math.Min(buffer.Length, StoreCipher.SealedBytes(key.Length, 0) + (long)room)];
        if (Number == 0 && isUse && !acceptStale)
        {
            int length = Engine.TryGetPlain(
                tag, placement, ref MemoryMarshal.GetReference(buffer), buffer.Length, out ulong version, out long deadline);
            if (length >= 0)
            {
                info = EntryInfo.Plain(length, version, deadline);
                return TryOpen(tag, key, buffer[..length], room, ref info, out value);
            }

            if (length == StoreEngine.Missing)
            {
                Engine.CountMiss(placement.Partition);
                value = default;
                info = default;
                return false;
            }
        }

        var place = new KeyRef((byte*)&tag, KeyTag.Bytes, Number, placement);
        while (true)
        {
            ReadOutcome outcome = isUse
                ? Engine.TryGet(place, buffer, acceptStale, out info)
                : Peek(Engine, place, buffer, out info);
            if (outcome == ReadOutcome.Hit)
            {
                return TryOpen(tag, key, buffer[..info.ValueBytes], room, ref info, out value);
            }

            int valueBytes = info.ValueBytes - StoreCipher.SealedBytes(key.Length, 0);
            if (outcome == ReadOutcome.Miss || valueBytes > room)
            {
                value = default;
                info = outcome == ReadOutcome.Miss ? default : info.WithValueBytes(valueBytes);
                return false;
            }

            buffer = RentAnother(ref rented, info.ValueBytes);
        }
    }

    private bool TryOpen(
        scoped in KeyTag tag, scoped ReadOnlySpan<byte> key, Span<byte> bytes, int room, scoped ref EntryInfo info, out ReadOnlySpan<byte> value)
    {
        if (!_cipher!.TryOpen(tag, EntryTerms.Of(Number, info), bytes, out ReadOnlySpan<byte> storedKey, out Span<byte> opened)
            || !storedKey.SequenceEqual(key))
        {
            OnForged(tag, key, info.Version);
            info = default;
            value = default;
            return false;
        }

        info = info.WithValueBytes(opened.Length);
        value = opened;
        return opened.Length <= room;
    }

    // The entry's checksum is right, but the entry was not written for this key with the store's key.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void OnForged(KeyTag tag, ReadOnlySpan<byte> key, ulong version)
    {
        KeyRef place = Engine.Place((byte*)&tag, KeyTag.Bytes, Number);
        Interlocked.Increment(ref Engine.Memory.Partition(place.Place.Partition)->Corrupt);
        if (Engine.Memory.IsKept(Number))
        {
            throw StoreCorruptException.NotGenuine(Engine.Memory.File.Path, Name, key);
        }

        Engine.Remove(place, WriteCondition.IfVersion, version);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryGetSealed(CacheKey key, Span<byte> destination, bool acceptStale, out EntryInfo info)
    {
        Span<byte> keyBuffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, keyBuffer);
        Span<byte> buffer = stackalloc byte[SealedOnStack];
        byte[]? rented = null;
        bool isHit = TryFetch(
            encoded.Bytes, acceptStale, isUse: true, destination.Length, buffer, ref rented, out scoped ReadOnlySpan<byte> value, out info);
        if (isHit)
        {
            value.CopyTo(destination);
        }

        Return(rented);
        encoded.Release();
        return isHit;
    }

    private bool TryPeekSealed(CacheKey key, IBufferWriter<byte> destination, out EntryInfo info)
    {
        Span<byte> keyBuffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, keyBuffer);
        Span<byte> buffer = stackalloc byte[SealedOnStack];
        byte[]? rented = null;
        bool isHit = TryFetch(
            encoded.Bytes, acceptStale: false, isUse: false, int.MaxValue, buffer, ref rented, out scoped ReadOnlySpan<byte> value, out info);
        if (isHit)
        {
            destination.Write(value);
        }

        Return(rented);
        encoded.Release();
        return isHit;
    }

    private bool ReadSealed<TState>(CacheKey key, TState state, EntryReader<TState> reader)
        where TState : allows ref struct
    {
        Span<byte> keyBuffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, keyBuffer);
        Span<byte> buffer = stackalloc byte[SealedOnStack];
        byte[]? rented = null;
        bool isHit = TryFetch(
            encoded.Bytes, acceptStale: false, isUse: true, int.MaxValue, buffer, ref rented, out scoped ReadOnlySpan<byte> value,
            out EntryInfo info);
        encoded.Release();
        if (isHit)
        {
            reader(value, info, state);
        }

        Return(rented);
        return isHit;
    }

    private PinnedValue? PinSealed(CacheKey key)
    {
        Span<byte> keyBuffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, keyBuffer);
        Span<byte> buffer = stackalloc byte[SealedOnStack];
        byte[]? rented = null;
        bool isHit = TryFetch(
            encoded.Bytes, acceptStale: false, isUse: true, int.MaxValue, buffer, ref rented, out scoped ReadOnlySpan<byte> value,
            out EntryInfo info);
        PinnedValue? pinned = isHit ? new PinnedValue(value.ToArray(), info) : null;
        Return(rented);
        encoded.Release();
        return pinned;
    }

    private int GetManySealed(ReadOnlySpan<ReadOnlyMemory<byte>> keys, Span<byte> buffer, Span<GetManyResult> results)
    {
        const int BatchKeys = 16;
        KeyPlacement* places = stackalloc KeyPlacement[BatchKeys];
        Span<byte> shortBuffer = stackalloc byte[SealedOnStack];
        byte[]? rented = null;
        int used = 0;
        for (int first = 0; first < keys.Length; first += BatchKeys)
        {
            ReadOnlySpan<ReadOnlyMemory<byte>> batch = keys.Slice(first, Math.Min(BatchKeys, keys.Length - first));
            for (int i = 0; i < batch.Length; i++)
            {
                KeyTag tag = _cipher!.TagOf(new EncodedKey(batch[i].Span, default).Bytes, Number);
                places[i] = Engine.Place((byte*)&tag, KeyTag.Bytes, Number).Place;
                Engine.PrefetchBucket(places[i]);
            }

            for (int i = 0; i < batch.Length; i++)
            {
                Engine.PrefetchEntry(places[i]);
            }

            for (int i = 0; i < batch.Length; i++)
            {
                Span<byte> target = buffer[used..];
                bool isHit = TryFetch(
                    batch[i].Span, acceptStale: false, isUse: true, target.Length, shortBuffer, ref rented,
                    out scoped ReadOnlySpan<byte> value, out EntryInfo info);
                if (!isHit && info.Version != 0)
                {
                    Return(rented);
                    return first + i; // It does not fit.
                }

                value.CopyTo(target);
                results[first + i] = new GetManyResult(isHit, used, info);
                used += value.Length;
            }
        }

        Return(rented);
        return keys.Length;
    }

    private WriteStatus WriteSealed(CacheKey key, in EntryContent content, WriteCondition condition, ulong expectedVersion)
    {
        Span<byte> keyBuffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, keyBuffer);
        KeyTag tag = _cipher!.TagOf(encoded.Bytes, Number);
        KeyRef place = Engine.Place((byte*)&tag, KeyTag.Bytes, Number);
        byte[]? rented = null;
        Span<byte> buffer = stackalloc byte[SealedOnStack];
        scoped ReadOnlySpan<byte> bytes = content.IsPast
            ? default
            : Seal(tag, encoded.Bytes, EntryTerms.Of(Number, content.Flags, content.Expiration), content.First, content.Second, buffer, ref rented);
        bool isPlain = Number == 0 && condition == WriteCondition.Always && content.Flags == 0 && content.Expiration.IsNever && !content.IsQuiet;
        WriteStatus status;
        if (isPlain && Engine.TryReplacePlain(tag, place.Place, ref MemoryMarshal.GetReference(bytes), bytes.Length))
        {
            status = WriteStatus.Stored;
        }
        else
        {
            scoped EntryContent whole = content;
            whole.First = bytes;
            whole.Second = default;
            status = Engine.Write(place, whole, condition, expectedVersion, out _);
        }

        Return(rented);
        encoded.Release();
        return status;
    }

    private WriteStatus JoinSealed(CacheKey key, ReadOnlySpan<byte> addition, bool isPrefix)
    {
        Span<byte> keyBuffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, keyBuffer);
        Span<byte> buffer = stackalloc byte[SealedOnStack];
        byte[]? rented = null;
        WriteStatus status = WriteStatus.VersionMismatch;
        while (status == WriteStatus.VersionMismatch)
        {
            status = !TryFetch(
                encoded.Bytes, acceptStale: false, isUse: false, int.MaxValue, buffer, ref rented, out scoped ReadOnlySpan<byte> value,
                out EntryInfo info) ? WriteStatus.NotFound
                : value.Length + (long)addition.Length > LongestValueBytes ? WriteStatus.TooLarge
                : RewriteSealed(encoded.Bytes, isPrefix ? addition : value, isPrefix ? value : addition, info, expiration: null);
        }

        Return(rented);
        encoded.Release();
        return status;
    }

    private WriteStatus TouchSealed(CacheKey key, in ResolvedExpiration expiration, ulong expectedVersion)
    {
        Span<byte> keyBuffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, keyBuffer);
        Span<byte> buffer = stackalloc byte[SealedOnStack];
        byte[]? rented = null;
        WriteStatus status = WriteStatus.VersionMismatch;
        while (status == WriteStatus.VersionMismatch)
        {
            if (!TryFetch(
                encoded.Bytes, acceptStale: false, isUse: false, int.MaxValue, buffer, ref rented, out scoped ReadOnlySpan<byte> value,
                out EntryInfo info))
            {
                status = WriteStatus.NotFound;
            }
            else if (expectedVersion != 0 && info.Version != expectedVersion)
            {
                break;
            }
            else
            {
                status = RewriteSealed(encoded.Bytes, value, default, info, expiration);
            }
        }

        Return(rented);
        encoded.Release();
        return status;
    }

    private WriteStatus RewriteSealed(CacheKey key, ReadOnlySpan<byte> value, in EntryInfo info)
    {
        Span<byte> keyBuffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, keyBuffer);
        WriteStatus status = RewriteSealed(encoded.Bytes, value, default, info, expiration: null);
        encoded.Release();
        return status;
    }

    // Writes a new value for the entry that was read. It also writes a new expiration if the caller passes one.
    private WriteStatus RewriteSealed(
        ReadOnlySpan<byte> key, ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, in EntryInfo info, ResolvedExpiration? expiration)
    {
        KeyTag tag = _cipher!.TagOf(key, Number);
        EntryTerms terms = expiration is { } changed ? EntryTerms.Of(Number, info.Flags, changed) : EntryTerms.Of(Number, info);
        Span<byte> buffer = stackalloc byte[SealedOnStack];
        byte[]? rented = null;
        ReadOnlySpan<byte> bytes = Seal(tag, key, terms, first, second, buffer, ref rented);
        WriteStatus status = Engine.Rewrite(
            Engine.Place((byte*)&tag, KeyTag.Bytes, Number), bytes, expiration, info.Version, out _);
        Return(rented);
        return status;
    }

    private ReadOnlySpan<byte> Seal(
        scoped in KeyTag tag, scoped ReadOnlySpan<byte> key, scoped in EntryTerms terms, scoped ReadOnlySpan<byte> first,
        scoped ReadOnlySpan<byte> second, Span<byte> buffer,
        ref byte[]? rented)
    {
        int length = StoreCipher.SealedBytes(key.Length, first.Length + second.Length);
        Span<byte> target = length <= buffer.Length ? buffer : RentAnother(ref rented, length);
        _cipher!.Seal(tag, terms, key, first, second, target[..length]);
        return target[..length];
    }
}
