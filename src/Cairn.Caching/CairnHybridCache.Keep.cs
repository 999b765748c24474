using System.Diagnostics.CodeAnalysis;
using Cairn.Caching.Coherence;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Serialization;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Cairn.Caching.Timing;

namespace Cairn.Caching;

// Converts values to entries of both levels, and back.
public sealed partial class CairnHybridCache
{
    // The approximate memory of an entry without its value and key: object headers, links, and its share of the table.
    private const long EntryOverheadBytes = 160;

    private const int LargestKeptBuffer = 64 << 10;

    [ThreadStatic]
    private static PooledBuffer? t_buffer;

    // Keeps the value of a factory and ends its flight.
    private ValueTask KeepAsync<T>(
        ValueFlight<T> flight, T value, EntryPolicy policy, TagStamps? stamps, string? etag, DateTimeOffset? lastModified, ChangeMark mark, ILevelLease? lease)
    {
        Func<T>? copy = null;
        try
        {
            ValueTask<LocalEntry> storing = StoreAsync(
                flight, value, policy, stamps, etag, lastModified, mark, lease, isSet: false, flight.Wait.WithoutToken());
            if (!storing.IsCompletedSuccessfully)
            {
                return KeepLaterAsync(flight, value, storing);
            }

            copy = CopyOf<T>(storing.Result);
        }
#pragma warning disable CA1031 // A serializer may throw any exception.
        catch (Exception fault) when (fault is not OutOfMemoryException)
#pragma warning restore CA1031
        {
            NoteNotSerialized<T>(fault);
        }

        flight.Succeed(value, copy);
        return default;
    }

    private async ValueTask KeepLaterAsync<T>(ValueFlight<T> flight, T value, ValueTask<LocalEntry> storing)
    {
        Func<T>? copy = null;
        try
        {
            copy = CopyOf<T>(await storing.ConfigureAwait(false));
        }
#pragma warning disable CA1031 // A serializer may throw any exception.
        catch (Exception fault) when (fault is not OutOfMemoryException)
#pragma warning restore CA1031
        {
            NoteNotSerialized<T>(fault);
        }

        flight.Succeed(value, copy);
    }

    // The value exists, so the waiting callers get it even if it cannot be kept.
    private void NoteNotSerialized<T>(Exception fault)
    {
        _counters.Add(CacheCount.SerializationFault);
        _log.NotSerialized(typeof(T), fault);
    }

    // KeepAsync for a flight without a second level that needs nothing else. The flight can no longer be found when it ends.
    private void KeepPlain<T>(ValueFlight<T> flight, T value, EntryPolicy policy)
    {
        Func<T>? copy = null;
        if (value is not null || policy.CachesNull)
        {
            try
            {
                LocalEntry entry = EntryOf(flight.Key, flight.Hash, policy, stamps: null, etag: null, lastModified: null, out _);
                Codec<T> codec = _codecs.Of<T>();
                Fill(entry, codec, value, PayloadOf(codec, value, policy), policy);
                if (policy.WritesLocal)
                {
                    Depend(entry, _guard.TryKeepAndRemove(flight, (this, entry), SetLocal)); // I2
                }

                copy = CopyOf<T>(entry);
            }
#pragma warning disable CA1031 // A serializer may throw any exception.
            catch (Exception fault) when (fault is not OutOfMemoryException)
#pragma warning restore CA1031
            {
                NoteNotSerialized<T>(fault);
            }
        }

        flight.Succeed(value, copy);
    }

    // Writes a value to both levels, as far as the policy allows. Throws the exceptions of the serializer.
    private ValueTask<LocalEntry> StoreAsync<T>(
        Flight flight,
        T value,
        EntryPolicy policy,
        TagStamps? stamps,
        string? etag,
        DateTimeOffset? lastModified,
        ChangeMark mark,
        ILevelLease? lease,
        bool isSet,
        LevelWait wait)
    {
        Codec<T> codec = _codecs.Of<T>();
        LocalEntry entry = EntryOf(flight.Key, flight.Hash, policy, stamps, etag, lastModified, out long freshUntil);
        entry.AsOf = flight.Began;
        if (!_hasLevel)
        {
            Fill(entry, codec, value, PayloadOf(codec, value, policy), policy);
            if (policy.WritesLocal)
            {
                Depend(entry, KeepLocal(flight, mark, 0, entry));
            }
            else if (isSet)
            {
                _local.Remove(flight.Hash, flight.Key);
                _dependencies.Drop(flight.Key);
            }

            if (isSet)
            {
                // I3. Called after the change, because no other level reports it to flights that began in between.
                _guard.DetachReaders(flight.Hash);
            }

            return new ValueTask<LocalEntry>(entry);
        }

        return StoreSharedAsync(flight, value, codec, entry, freshUntil, policy, mark, lease, isSet, wait);
    }

    private ValueTask<LocalEntry> StoreSharedAsync<T>(
        Flight flight,
        T value,
        Codec<T> codec,
        LocalEntry entry,
        long freshUntil,
        EntryPolicy policy,
        ChangeMark mark,
        ILevelLease? lease,
        bool isSet,
        LevelWait wait)
    {
        PooledBuffer envelope = TakeBuffer();
        bool isLater = false;
        try
        {
            // Serialized once, for both levels.
            LocalPayload? payload = PayloadOf(codec, value, policy);
            ClockReading clock = _clock.Read();
            bool isWritable = policy.WritesShared && IsForShared(flight.Key) && entry.Tags is not { AreKnown: false }
                && TryWrite(envelope, HeaderOf(entry, freshUntil, clock), flight.Key, codec, value, payload, policy, isSet);
            Fill(entry, codec, value, payload, policy);

            bool isChange;
            ValueTask<LevelStatus> changing = new(LevelStatus.Failed);
            if (isWritable)
            {
                isChange = isSet || lease is not null || (!_level.HasLeases && !flight.IsDetached && _coherence.IsUnchanged(mark, flight.Hash));
                if (isChange)
                {
                    changing = _level.WriteAsync(flight.Key, flight.Hash, envelope.WrittenMemory, ExpirationOf(entry, clock), isSet ? null : lease, wait);
                }
            }
            else
            {
                // A value that cannot be written must not leave the earlier value in place.
                isChange = isSet && policy.WritesShared;
                if (isChange)
                {
                    changing = _level.RemoveAsync(flight.Key, flight.Hash, wait);
                }
            }

            if (changing.IsCompletedSuccessfully)
            {
                KeepStored(flight, entry, policy, mark, isSet, isChange, changing.Result);
                return new(entry);
            }

            isLater = true;
            return StoreLaterAsync(flight, entry, policy, mark, isSet, isChange, changing, envelope);
        }
        finally
        {
            if (!isLater)
            {
                GiveBack(envelope);
            }
        }
    }

    private async ValueTask<LocalEntry> StoreLaterAsync(
        Flight flight, LocalEntry entry, EntryPolicy policy, ChangeMark mark, bool isSet, bool isChange, ValueTask<LevelStatus> changing, PooledBuffer envelope)
    {
        try
        {
            KeepStored(flight, entry, policy, mark, isSet, isChange, await changing.ConfigureAwait(false));
            return entry;
        }
        finally
        {
            GiveBack(envelope);
        }
    }

    // Ends the storing after the second level has stored its part or failed to.
    private void KeepStored(Flight flight, LocalEntry entry, EntryPolicy policy, in ChangeMark mark, bool isSet, bool isChange, LevelStatus status)
    {
        if (isSet)
        {
            _guard.DetachReaders(flight.Hash); // I3
        }

        bool isKept = status != LevelStatus.LeaseLost && policy.WritesLocal
            && KeepLast(flight, mark, isChange ? _level.ChangesOf(status) : 0, entry);
        if (isSet && !isKept)
        {
            _local.Remove(flight.Hash, flight.Key);
        }

        Depend(entry, isKept || status == LevelStatus.Done);
    }

    // Returns false if the value is too large, or if the serializer fails for a value that this process can keep unserialized.
    private bool TryWrite<T>(
        PooledBuffer envelope, in EnvelopeHeader header, string key, Codec<T> codec, T value, LocalPayload? payload, EntryPolicy policy, bool isSet)
    {
        try
        {
            if ((payload is null
                    ? _codecs.TryWrite(envelope, key, header, codec, value, policy.Compresses)
                    : _codecs.TryWrite(envelope, key, header, payload, policy.Compresses))
                && envelope.WrittenBytes <= _level.MaxValueBytes)
            {
                return true;
            }

            _counters.Add(CacheCount.SharedTooLarge);
            NoteTooLarge(key, payload, envelope);
        }
#pragma warning disable CA1031 // A serializer may throw any exception.
        catch (Exception fault) when (payload is null && !isSet && fault is not OutOfMemoryException)
#pragma warning restore CA1031
        {
            // An object that is shared within the process can be kept there without a serializer.
            NoteNotSerialized<T>(fault);
        }

        return false;
    }

    // For a value that did not fit into the buffer, the logged size is what the serializer had tried to write.
    private void NoteTooLarge(string key, LocalPayload? payload, PooledBuffer envelope)
    {
        long limit = _codecs.Options.MaximumPayloadBytes;
        if (payload is not null)
        {
            _log.TooLarge(key, payload.Bytes.Length, Math.Min(limit, _level.MaxValueBytes));
        }
        else if (envelope.HasOverflowed)
        {
            _log.TooLarge(key, limit + envelope.ExcessBytes, limit);
        }
        else
        {
            _log.TooLarge(key, envelope.WrittenBytes, _level.MaxValueBytes);
        }
    }

    // I2. Also refuses an entry with a tag that has no stamp (Tag.Unknown): such an entry is never valid.
    private bool KeepLocal(Flight flight, in ChangeMark mark, int ownChanges, LocalEntry entry)
    {
        if (entry.Tags is { HasUnknown: true })
        {
            return false;
        }

        return _hasLevel
            ? _coherence.TryKeep(mark, entry.Hash, ownChanges, (flight, this, entry), static kept => kept.flight.TryKeep((kept.Item2, kept.entry), SetLocal))
            : flight.TryKeep((this, entry), SetLocal);
    }

    // KeepLocal as the last step of a flight, which can no longer be found afterwards.
    private bool KeepLast(Flight flight, in ChangeMark mark, int ownChanges, LocalEntry entry) =>
        entry.Tags is not { HasUnknown: true } && _coherence.TryKeep(
            mark,
            entry.Hash,
            ownChanges,
            (flight, this, entry),
            static kept => kept.Item2._guard.TryKeepAndRemove(kept.flight, (kept.Item2, kept.entry), SetLocal));

    // Watches the dependencies of a value that at least one level has kept. They replace those of the key's previous value.
    private void Depend(LocalEntry entry, bool isKept)
    {
        if (!isKept)
        {
            _counters.Add(CacheCount.NotKept);
        }
        else if (entry.Extras?.Tokens is { Count: > 0 } tokens)
        {
            _dependencies.Set(entry.Key, tokens, entry.UsableUntil);
        }
        else
        {
            _dependencies.Drop(entry.Key);
        }
    }

    private static void SetLocal((CairnHybridCache Cache, LocalEntry Entry) kept) => kept.Cache._local.Set(kept.Entry, kept.Cache._clock.NowMs());

    private void KeepRead(Flight flight, in ChangeMark mark, LocalEntry entry, EntryPolicy policy)
    {
        if (policy.WritesLocal)
        {
            entry.AsOf = flight.Began;
            KeepLocal(flight, mark, 0, entry);
        }
    }

    // After a failure of the factory: the expired value counts as fresh for the throttle time.
    private void KeepThrottled<T>(ValueFlight<T> flight, LocalEntry stale, EntryPolicy policy)
    {
        if (!policy.WritesLocal || policy.ThrottleMs == 0)
        {
            return;
        }

        // Kept only if the first level still holds this entry. The entry may also come from the second level alone: then the mark, which is
        // older than the entry, shows whether it was removed.
        long until = Math.Min(stale.UsableUntil, CacheClock.Later(_clock.NowMs(), policy.ThrottleMs));
        LocalEntry? present = _local.FindSurely(flight.Hash, flight.Key);
        if (ReferenceEquals(present, stale) || (present is null && _hasLevel))
        {
            KeepLocal(flight, flight.Before, 0, Copy(stale, until, stale.UsableUntil));
        }
    }

    private async ValueTask<LocalEntry?> TryReadSharedAsync<T>(ValueFlight<T> flight, ChangeMark mark, EntryPolicy policy, bool isRefresh)
    {
        PooledBuffer buffer = TakeBuffer();
        LocalEntry? entry;
        try
        {
            LevelStatus status = await _level.ReadAsync(flight.Key, flight.Hash, buffer, flight.Wait).ConfigureAwait(false);
            if (status != LevelStatus.Hit)
            {
                return null;
            }

            entry = await DecodeAsync<T>(flight.Key, flight.Hash, buffer.WrittenMemory, policy, flight.Wait).ConfigureAwait(false);
        }
        finally
        {
            GiveBack(buffer);
        }

        if (entry is null)
        {
            flight.ReplacesUseless = true;
            return null;
        }

        long now = _clock.NowMs();
        bool isNewer = !isRefresh || flight.Stale is not { } refreshed || entry.FreshUntil > refreshed.FreshUntil;
        if (now < entry.FreshUntil && isNewer)
        {
            KeepRead(flight, mark, entry, policy);
            return entry;
        }

        if (now < entry.UsableUntil && flight.Stale is null)
        {
            flight.Stale = entry;
        }

        return null;
    }

    // Reads the second level if that needs no wait; otherwise it returns false without a read. The mark decides whether the entry may be kept.
    // The count of detaches covers changes of this process that the level has not stored yet. An entry is useless if no caller can use it:
    // it has another type, is damaged, or has an invalidated tag.
    private bool TryReadNow<T>(
        string key, ulong hash, EntryPolicy policy, ref LocalEntry? stale, out bool hasLooked, out bool isUseless, [MaybeNullWhen(false)] out T value)
    {
        isUseless = false;
        value = default;
        int detaches = _guard.Detaches(hash);
        ChangeMark mark = _coherence.Mark(hash);
        PooledBuffer buffer = TakeBuffer();
        LocalEntry? entry = null;
        hasLooked = _level.TryReadNow(key, hash, buffer, out LevelStatus status);
        if (hasLooked && status == LevelStatus.Hit)
        {
            // Not completed at once: the stamp of a tag must be read from the second level.
            ValueTask<LocalEntry?> decoding = DecodeAsync<T>(key, hash, buffer.WrittenMemory, policy, CancellationToken.None);
            entry = decoding.IsCompletedSuccessfully ? decoding.Result : null;
            hasLooked = decoding.IsCompletedSuccessfully;
            isUseless = hasLooked && entry is null;
        }

        GiveBack(buffer);
        if (entry is null)
        {
            return false;
        }

        if (_clock.NowMs() >= entry.FreshUntil)
        {
            stale ??= entry;
            return false;
        }

        if (!TryTake(entry, out value))
        {
            isUseless = true;
            return false;
        }

        if (policy.WritesLocal)
        {
            _coherence.TryKeep(
                mark,
                hash,
                0,
                (this, entry, detaches),
                static kept => kept.Item1._guard.TryKeep(kept.entry.Hash, kept.detaches, (kept.Item1, kept.entry), SetLocal));
        }

        _counters.Add(CacheCount.SharedHit);
        return true;
    }

    private static PooledBuffer TakeBuffer()
    {
        PooledBuffer buffer = t_buffer ?? new PooledBuffer();
        t_buffer = null;
        return buffer;
    }

    // Each thread keeps one buffer, unless it is too large.
    private static void GiveBack(PooledBuffer buffer)
    {
        if (buffer.WrittenBytes > LargestKeptBuffer || t_buffer is not null)
        {
            buffer.Dispose();
            return;
        }

        buffer.Reset();
        t_buffer = buffer;
    }

    // Returns an entry of the second level if it passes validation: it is complete, of this type, still usable, and its tags are unchanged.
    private ValueTask<LocalEntry?> DecodeAsync<T>(
        string key, ulong hash, ReadOnlyMemory<byte> envelope, EntryPolicy policy, LevelWait wait)
    {
        LocalEntry? entry = Decode<T>(key, hash, envelope, policy);
        return entry?.Tags is null ? new ValueTask<LocalEntry?>(entry) : CheckTagsAsync(entry, wait);
    }

    // The second level does not report the eviction of a stamp that this process remembers. So the stamp is read again before an entry is
    // rejected because of it.
    private async ValueTask<LocalEntry?> CheckTagsAsync(LocalEntry entry, LevelWait wait) =>
        (_coherence.SeesAllChanges && await AreCurrentAsync(entry.Tags!, mayBeKnown: true, wait).ConfigureAwait(false))
        || await AreCurrentAsync(entry.Tags!, mayBeKnown: false, wait).ConfigureAwait(false)
            ? entry
            : null;

    private LocalEntry? Decode<T>(string key, ulong hash, ReadOnlyMemory<byte> envelope, EntryPolicy policy)
    {
        Codec<T> codec = _codecs.Of<T>();
        bool isShared = codec.IsShareable || policy.ShareLocalValue;
        EnvelopeHeader header;
        object? kept;
        EnvelopeStatus status;
        if (isShared)
        {
            status = _codecs.TryRead(envelope, key, codec, out header, out T? value);
            kept = value;
        }
        else
        {
            status = _codecs.TryReadPayload(envelope, key, codec, out header, out LocalPayload? payload);
            kept = payload;
        }

        if (status != EnvelopeStatus.Ok)
        {
            _counters.Add(CacheCount.SharedUnreadable);
            _log.Unreadable(key, status);
            return null;
        }

        ClockReading clock = _clock.Read();
        long now = clock.Now;
        long freshUntil = clock.FromUnixMs(header.FreshUntil);
        long usableUntil = clock.FromUnixMs(header.UsableUntil);
        if (now >= usableUntil)
        {
            return null;
        }

        long localFresh = Math.Min(freshUntil, CacheClock.Later(now, policy.LocalMs));
        if (header.SlidingMs != 0)
        {
            localFresh = Math.Min(localFresh, CacheClock.Later(now, header.SlidingMs));
        }

        bool hasExtras = header.SlidingMs != 0 || header.ETag is not null || header.LastModified is not null || policy.EagerPart > 0;
        var entry = new LocalEntry(key, hash)
        {
            Value = kept,
            Tags = header.StoredTags.Count == 0 ? null : StampsOf(header.StoredTags),
            UsableUntil = usableUntil,
            QuietUntil = localFresh,
            Extras = !hasExtras ? null : new LocalExtras(localFresh)
            {
                SlidingMs = header.SlidingMs,
                FreshAtMost = freshUntil,
                EagerAt = policy.EagerPart == 0 ? long.MaxValue : EagerAt(clock.FromUnixMs(header.CreatedAt), freshUntil, policy.EagerPart),
                ETag = header.ETag,
                LastModified = header.LastModified,
            },
        };
        entry.QuietUntil = QuietUntil(entry, now);
        entry.Bytes = policy.Options.LocalBytes ?? OverheadOf(key) + (kept is LocalPayload copied ? copied.HeapBytes : codec.EstimateBytes((T)kept!));
        return entry;
    }

    private TagStamps StampsOf(EnvelopeTags stored)
    {
        var tags = new Tag[stored.Count];
        var stamps = new ulong[stored.Count];
        int i = 0;
        foreach (EnvelopeTag tag in stored)
        {
            tags[i] = _tags.Get(tag.Name);
            stamps[i++] = tag.Stamp;
        }

        return _tags.Share(tags, stamps);
    }

    // Creates an entry without its value, with the times that the policy gives it from now on.
    private LocalEntry EntryOf(
        string key, ulong hash, EntryPolicy policy, TagStamps? stamps, string? etag, DateTimeOffset? lastModified, out long freshUntil)
    {
        long now = _clock.NowMs();
        long jitter = policy.JitterMs == 0 ? 0 : Random.Shared.NextInt64(Math.Min(policy.JitterMs, long.MaxValue - 1) + 1);
        freshUntil = CacheClock.Later(now, CacheClock.Later(policy.ExpirationMs, jitter));
        long localFresh = policy.LocalMs == policy.ExpirationMs ? freshUntil : CacheClock.Later(now, policy.LocalMs);
        if (policy.SlidingMs != 0)
        {
            localFresh = Math.Min(localFresh, CacheClock.Later(now, policy.SlidingMs));
        }

        bool hasExtras = policy.SlidingMs != 0 || policy.EagerPart > 0 || etag is not null || lastModified is not null || policy.Options.ChangeTokens is not null;
        var entry = new LocalEntry(key, hash)
        {
            Tags = stamps,
            UsableUntil = CacheClock.Later(freshUntil, policy.StaleMs),
            QuietUntil = localFresh,
            Extras = !hasExtras ? null : new LocalExtras(localFresh)
            {
                SlidingMs = policy.SlidingMs,
                FreshAtMost = freshUntil,
                EagerAt = policy.EagerPart == 0 ? long.MaxValue : EagerAt(now, freshUntil, policy.EagerPart),
                ETag = etag,
                LastModified = lastModified,
                Tokens = policy.Options.ChangeTokens,
            },
        };
        entry.QuietUntil = QuietUntil(entry, now);
        return entry;
    }

    private static LocalEntry Copy(LocalEntry entry, long freshUntil, long usableUntil) => new(entry.Key, entry.Hash)
    {
        Value = entry.Value,
        Tags = entry.Tags,
        AsOf = entry.AsOf,
        Bytes = entry.Bytes,
        QuietUntil = freshUntil,
        UsableUntil = usableUntil,
        Extras = entry.Extras is not { } extras ? null : new LocalExtras(freshUntil) { ETag = extras.ETag, LastModified = extras.LastModified, FreshAtMost = freshUntil, Tokens = extras.Tokens },
    };

    private static long EagerAt(long from, long freshUntil, double part) =>
        freshUntil == long.MaxValue ? long.MaxValue : from + (long)((freshUntil - from) * part);

    private static long QuietUntil(LocalEntry entry, long now)
    {
        if (entry.Extras is not { } extras)
        {
            return entry.FreshUntil;
        }

        long slides = extras.SlidingMs == 0 ? long.MaxValue : now + Math.Max(1, extras.SlidingMs / 8);
        return Math.Min(entry.FreshUntil, Math.Min(extras.EagerAt, slides));
    }

    private static EnvelopeHeader HeaderOf(LocalEntry entry, long freshUntil, in ClockReading clock) => new()
    {
        CreatedAt = clock.UnixNow,
        FreshUntil = clock.ToUnixMs(freshUntil),
        UsableUntil = clock.ToUnixMs(entry.UsableUntil),
        SlidingMs = entry.Extras?.SlidingMs ?? 0,
        ETag = entry.Extras?.ETag,
        LastModified = entry.Extras?.LastModified,
        Tags = entry.Tags,
    };

    private static LevelExpiration ExpirationOf(LocalEntry entry, in ClockReading clock) =>
        new(clock.ToUnixMs(entry.UsableUntil), entry.Extras?.SlidingMs ?? 0);

    private static long OverheadOf(string key) => EntryOverheadBytes + (2L * key.Length);

    // Returns the serialized value, which is kept instead of an object that must not be shared; null if the object itself is kept.
    private static LocalPayload? PayloadOf<T>(Codec<T> codec, T value, EntryPolicy policy) =>
        value is null || codec.IsShareable || policy.ShareLocalValue ? null : SerializeLocal(codec, value);

    private static void Fill<T>(LocalEntry entry, Codec<T> codec, T value, LocalPayload? payload, EntryPolicy policy)
    {
        entry.Value = payload ?? (object?)value;
        long valueBytes = payload is not null ? payload.HeapBytes : value is null ? 0 : codec.EstimateBytes(value);
        entry.Bytes = policy.Options.LocalBytes ?? OverheadOf(entry.Key) + valueBytes;
    }

    private static LocalPayload SerializeLocal<T>(Codec<T> codec, T value)
    {
        using var buffer = new PooledBuffer();
        codec.Serialize(value, buffer);
        return new LocalPayload(buffer.WrittenSpan.ToArray(), codec.Format, codec.TypeId);
    }

    private bool TryDeserialize<T>(LocalPayload payload, [MaybeNullWhen(false)] out T value)
    {
        try
        {
            value = _codecs.Copy(_codecs.Of<T>(), payload);
            return true;
        }
#pragma warning disable CA1031 // A serializer may throw any exception.
        catch (Exception fault) when (fault is not OutOfMemoryException)
#pragma warning restore CA1031
        {
            // The payload comes from the serializer of another type, or from one that cannot read its own output.
            _counters.Add(CacheCount.SerializationFault);
            _log.NotDeserialized(typeof(T), fault);
            value = default;
            return false;
        }
    }

    private Func<T>? CopyOf<T>(LocalEntry entry) =>
        entry.Value is LocalPayload payload ? CopyOf<T>(payload) : null;

    // A separate method, so that the closure is allocated only when this path is taken: a method with a lambda allocates its closure on entry.
    private Func<T> CopyOf<T>(LocalPayload payload) => () => _codecs.Copy(_codecs.Of<T>(), payload);
}
