using Cairn.Caching.Coherence;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Serialization;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Cairn.Caching.Timing;

namespace Cairn.Caching.Operations;

// Keeps values in both levels: those that callers set, that factories create, and that were read from the second level.
internal sealed class EntryKeeper(CacheParts parts, TagReader tags, EntryConverter converter)
{
    /// <summary>Stores a caller's value.</summary>
    public async ValueTask SetAsync<T>(string key, T value, CairnEntryOptions? options, IEnumerable<string>? names, CancellationToken cancellationToken)
    {
        parts.ThrowIfClosed();
        EntryPolicy policy = parts.Defaults.With(options);
        if (!parts.IsCacheable(key))
        {
            parts.Counters.Add(CacheCount.Uncached);
            return;
        }

        cancellationToken.ThrowIfCancellationRequested();
        var wait = new LevelWait(parts.SecondLevel.NewDeadline(), cancellationToken);
        ulong hash = parts.Hasher.Hash(key);
        TagStamps? stamps = names is null && policy.Options.Topics is null
            ? null
            : await tags.CaptureAsync(names, policy.Options.Topics, wait).ConfigureAwait(false);

        parts.Flights.Detach(hash); // CacheParts, I3
        var writer = new SoloFlight(key, hash, isWriter: true) { Began = parts.BeganNow() };
        parts.Flights.Add(writer);
        try
        {
            var terms = new KeepTerms(policy, parts.Changes.Mark(hash), Lease: null);
            await StoreAsync(writer, value, terms, new EntryMetadata(stamps, null, null), wait).ConfigureAwait(false);
            parts.Counters.Add(CacheCount.Set);
        }
        finally
        {
            parts.Flights.Remove(writer);
        }
    }

    /// <summary>Keeps the value of a factory and ends its flight.</summary>
    public ValueTask KeepAsync<T>(ValueFlight<T> flight, T value, in KeepTerms terms, in EntryMetadata metadata)
    {
        Func<T>? copy = null;
        try
        {
            ValueTask<LocalEntry> storing = StoreAsync(flight, value, terms, metadata, flight.Wait.WithoutToken());
            if (!storing.IsCompletedSuccessfully)
            {
                return KeepLaterAsync(flight, value, storing);
            }

            copy = converter.CopyOf<T>(storing.Result);
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
            copy = converter.CopyOf<T>(await storing.ConfigureAwait(false));
        }
#pragma warning disable CA1031 // A serializer may throw any exception.
        catch (Exception fault) when (fault is not OutOfMemoryException)
#pragma warning restore CA1031
        {
            NoteNotSerialized<T>(fault);
        }

        flight.Succeed(value, copy);
    }

    /// <summary>KeepAsync for a flight without a second level that needs nothing else. The flight can no longer be found when it ends.</summary>
    public void KeepPlain<T>(ValueFlight<T> flight, T value, EntryPolicy policy)
    {
        Func<T>? copy = null;
        if (value is not null || policy.CachesNull)
        {
            try
            {
                LocalEntry entry = EntryConverter.Create(flight, policy, default, parts.Clock.NowMs(), out _);
                Codec<T> codec = parts.Codecs.Of<T>();
                EntryConverter.Fill(entry, codec, value, EntryConverter.PayloadOf(codec, value, policy), policy);
                if (policy.WritesLocal)
                {
                    Depend(entry, parts.Flights.TryKeepAndRemove(flight, unjoins: false, (parts, entry), SetLocal)); // CacheParts, I2
                }

                copy = converter.CopyOf<T>(entry);
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

    /// <summary>Keeps an entry that a flight read from the second level.</summary>
    public void KeepRead(Flight flight, in ChangeMark mark, LocalEntry entry, EntryPolicy policy)
    {
        if (policy.WritesLocal)
        {
            entry.AsOf = flight.Began;
            KeepLocal(flight, mark, 0, entry);
        }
    }

    /// <summary>Keeps an entry that was read from the second level without a flight.</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="mark">The mark from before the read.</param>
    /// <param name="detaches">The count of detaches from before the read. It covers changes of this process that the level has not stored yet.</param>
    public void KeepReadNow(LocalEntry entry, in ChangeMark mark, int detaches) =>
        parts.Coherence.TryKeep(
            mark,
            entry.Hash,
            0,
            (parts, entry, detaches),
            static kept => kept.parts.Flights.TryKeep(kept.entry.Hash, kept.detaches, (kept.parts, kept.entry), SetLocal));

    /// <summary>Keeps an entry in the first level, unless it was changed since the mark (<see cref="CacheParts"/>, I2).</summary>
    // Also refuses an entry with a tag that has no stamp (Tag.Unknown): such an entry is never valid.
    public bool KeepLocal(Flight flight, in ChangeMark mark, int ownChanges, LocalEntry entry)
    {
        if (entry.Tags is { HasUnknown: true })
        {
            return false;
        }

        return parts.HasLevel
            ? parts.Coherence.TryKeep(
                mark, entry.Hash, ownChanges, (flight, parts, entry), static kept => kept.flight.TryKeep((kept.parts, kept.entry), SetLocal))
            : flight.TryKeep((parts, entry), SetLocal);
    }

    /// <summary>Watches the dependencies of a value that at least one level has kept. They replace those of the key's previous value.</summary>
    public void Depend(LocalEntry entry, bool isKept)
    {
        if (!isKept)
        {
            parts.Counters.Add(CacheCount.NotKept);
        }
        else if (entry.Extras?.Tokens is { Count: > 0 } tokens)
        {
            parts.Dependencies.Set(entry.Key, tokens, entry.UsableUntil);
        }
        else
        {
            parts.Dependencies.Drop(entry.Key);
        }
    }

    // Writes a value to both levels, as far as the policy allows. Throws the exceptions of the serializer.
    private ValueTask<LocalEntry> StoreAsync<T>(Flight flight, T value, in KeepTerms terms, in EntryMetadata metadata, LevelWait wait)
    {
        if (parts.HasLevel)
        {
            return StoreSharedAsync(flight, value, terms, metadata, wait);
        }

        bool isSet = flight.IsWriter;
        Codec<T> codec = parts.Codecs.Of<T>();
        LocalEntry entry = EntryConverter.Create(flight, terms.Policy, metadata, parts.Clock.NowMs(), out _);
        EntryConverter.Fill(entry, codec, value, EntryConverter.PayloadOf(codec, value, terms.Policy), terms.Policy);
        if (terms.Policy.WritesLocal)
        {
            Depend(entry, KeepLocal(flight, terms.Mark, 0, entry));
        }
        else if (isSet)
        {
            parts.FirstLevel.Remove(flight.Hash, flight.Key);
            parts.Dependencies.Drop(flight.Key);
        }

        if (isSet)
        {
            // CacheParts, I3. Called after the change, because no other level reports it to flights that began in between.
            parts.Flights.DetachReaders(flight.Hash);
        }

        return new ValueTask<LocalEntry>(entry);
    }

    private ValueTask<LocalEntry> StoreSharedAsync<T>(Flight flight, T value, in KeepTerms terms, in EntryMetadata metadata, LevelWait wait)
    {
        EntryPolicy policy = terms.Policy;
        bool isSet = flight.IsWriter;
        Codec<T> codec = parts.Codecs.Of<T>();
        ClockReading clock = parts.Clock.Read();
        LocalEntry entry = EntryConverter.Create(flight, policy, metadata, clock.Now, out long freshUntil);
        PooledBuffer envelope = ThreadBuffer.Take();
        bool isLater = false;
        try
        {
            // Serialized once, for both levels.
            LocalPayload? payload = EntryConverter.PayloadOf(codec, value, policy);
            bool isWritable = policy.WritesShared && KeyRules.Fits(flight.Key, parts.SecondLevel.MaxKeyBytes) && entry.Tags is not { AreKnown: false }
                && TryWrite(envelope, EntryConverter.HeaderOf(entry, freshUntil, clock), flight, codec, value, payload, policy);
            EntryConverter.Fill(entry, codec, value, payload, policy);

            // The holder of a lease reports its write to its own first level together with the value.
            DistributedLease? reporting = parts.Changes.Channel is not null && MayKeepLast(entry, policy) ? terms.Lease as DistributedLease : null;
            bool isChange;
            ValueTask<LevelStatus> changing = new(LevelStatus.Failed);
            if (isWritable)
            {
                isChange = isSet || terms.Lease is not null
                    || (!parts.SecondLevel.HasLeases && !flight.IsDetached && parts.Coherence.IsUnchanged(terms.Mark, flight.Hash));
                if (reporting is not null)
                {
                    reporting.IsKeptByHolder = true;
                }

                if (isChange)
                {
                    changing = parts.SecondLevel.WriteAsync(
                        flight.Key, flight.Hash, envelope.WrittenMemory, EntryConverter.ExpirationOf(entry, clock), terms.Lease, wait);
                }
            }
            else
            {
                // A value that cannot be written must not leave the earlier value in place.
                isChange = isSet && policy.WritesShared;
                if (isChange)
                {
                    changing = parts.SecondLevel.RemoveAsync(flight.Key, flight.Hash, wait);
                }
            }

            if (changing.IsCompletedSuccessfully)
            {
                LevelStatus status = changing.Result;
                KeepStored(flight, entry, policy, terms.Mark, isChange, status, isUnreported: status == LevelStatus.Done && reporting is { IsKeptByHolder: true });
                return new(entry);
            }

            isLater = true;
            return StoreLaterAsync(flight, entry, policy, terms.Mark, isChange, changing, envelope);
        }
        finally
        {
            if (!isLater)
            {
                ThreadBuffer.Return(envelope);
            }
        }
    }

    private async ValueTask<LocalEntry> StoreLaterAsync(
        Flight flight, LocalEntry entry, EntryPolicy policy, ChangeMark mark, bool isChange, ValueTask<LevelStatus> changing, PooledBuffer envelope)
    {
        try
        {
            KeepStored(flight, entry, policy, mark, isChange, await changing.ConfigureAwait(false));
            return entry;
        }
        finally
        {
            ThreadBuffer.Return(envelope);
        }
    }

    // Ends the storing after the second level has stored its part or failed to.
    private void KeepStored(
        Flight flight, LocalEntry entry, EntryPolicy policy, in ChangeMark mark, bool isChange, LevelStatus status, bool isUnreported = false)
    {
        if (flight.IsWriter)
        {
            parts.Flights.DetachReaders(flight.Hash); // CacheParts, I3
        }

        bool isKept = status != LevelStatus.LeaseLost && MayKeepLast(entry, policy)
            && (isUnreported ? KeepWritten(flight, mark, entry) : KeepLast(flight, mark, isChange ? parts.SecondLevel.ChangesOf(status) : 0, entry));
        if (flight.IsWriter && !isKept)
        {
            parts.FirstLevel.Remove(flight.Hash, flight.Key);
        }

        Depend(entry, isKept || status == LevelStatus.Done);
    }

    // Returns false if the value is too large, or if the serializer fails for a value that this process can keep unserialized.
    private bool TryWrite<T>(PooledBuffer envelope, in EnvelopeHeader header, Flight flight, Codec<T> codec, T value, LocalPayload? payload, EntryPolicy policy)
    {
        try
        {
            bool compress = policy.Compresses && !parts.SecondLevel.StoresPlainValues;
            if ((payload is null
                    ? parts.Codecs.TryWrite(envelope, flight.Key, header, codec, value, compress)
                    : parts.Codecs.TryWrite(envelope, flight.Key, header, payload, compress))
                && envelope.WrittenBytes <= parts.SecondLevel.MaxValueBytes)
            {
                return true;
            }

            parts.Counters.Add(CacheCount.SharedTooLarge);
            NoteTooLarge(flight.Key, payload, envelope);
        }
#pragma warning disable CA1031 // A serializer may throw any exception.
        catch (Exception fault) when (payload is null && !flight.IsWriter && fault is not OutOfMemoryException)
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
        long limit = parts.Codecs.Options.MaximumPayloadBytes;
        if (payload is not null)
        {
            parts.Log.TooLarge(key, payload.Bytes.Length, Math.Min(limit, parts.SecondLevel.MaxValueBytes));
        }
        else if (envelope.HasOverflowed)
        {
            parts.Log.TooLarge(key, limit + envelope.ExcessBytes, limit);
        }
        else
        {
            parts.Log.TooLarge(key, envelope.WrittenBytes, parts.SecondLevel.MaxValueBytes);
        }
    }

    // The value exists, so the waiting callers get it even if it cannot be kept.
    private void NoteNotSerialized<T>(Exception fault)
    {
        parts.Counters.Add(CacheCount.SerializationFault);
        parts.Log.NotSerialized(typeof(T), fault);
    }

    private static bool MayKeepLast(LocalEntry entry, EntryPolicy policy) => policy.WritesLocal && entry.Tags is not { HasUnknown: true };

    // KeepLocal as the last step of a flight, which can no longer be found afterwards.
    private bool KeepLast(Flight flight, in ChangeMark mark, int ownChanges, LocalEntry entry) => parts.Coherence.TryKeep(
        mark,
        entry.Hash,
        ownChanges,
        (flight, parts, entry),
        static kept => kept.parts.Flights.TryKeepAndRemove(kept.flight, unjoins: false, (kept.parts, kept.entry), SetLocal));

    // KeepLast for a value whose write was not reported to the first level.
    private bool KeepWritten(Flight flight, in ChangeMark mark, LocalEntry entry) => parts.Changes.Channel!.TryKeepWritten(
        mark,
        entry.Hash,
        (flight, parts, entry),
        static kept => kept.parts.Flights.TryKeepAndRemove(kept.flight, unjoins: true, (kept.parts, kept.entry), SetLocal));

    private static void SetLocal((CacheParts Parts, LocalEntry Entry) kept) => kept.Parts.FirstLevel.Set(kept.Entry, kept.Parts.Clock.NowMs());
}
