using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Serialization;
using Cairn.Caching.Telemetry;
using Cairn.Caching.Timing;

namespace Cairn.Caching.Operations;

// Converts values to entries of both levels, and back.
internal sealed class EntryConverter(CacheParts parts, TagReader tags)
{
    // The approximate memory of an entry without its value and key: object headers, links, and its share of the table.
    private const long EntryOverheadBytes = 160;

    /// <summary>Creates an entry without its value, with the times that the policy gives it from a moment on.</summary>
    public static LocalEntry Create(Flight flight, EntryPolicy policy, in EntryMetadata metadata, long now, out long freshUntil)
    {
        long jitter = policy.JitterMs == 0 ? 0 : Random.Shared.NextInt64(Math.Min(policy.JitterMs, long.MaxValue - 1) + 1);
        freshUntil = CacheClock.Later(now, CacheClock.Later(policy.ExpirationMs, jitter));
        long localFresh = policy.LocalMs == policy.ExpirationMs ? freshUntil : CacheClock.Later(now, policy.LocalMs);
        if (policy.SlidingMs != 0)
        {
            localFresh = Math.Min(localFresh, CacheClock.Later(now, policy.SlidingMs));
        }

        bool hasExtras = policy.SlidingMs != 0 || policy.EagerPart > 0
            || metadata.ETag is not null || metadata.LastModified is not null || policy.Options.ChangeTokens is not null;
        var entry = new LocalEntry(flight.Key, flight.Hash)
        {
            Tags = metadata.Stamps,
            AsOf = flight.Began,
            UsableUntil = CacheClock.Later(freshUntil, policy.StaleMs),
            QuietUntil = localFresh,
            Extras = !hasExtras ? null : new LocalExtras(localFresh)
            {
                SlidingMs = policy.SlidingMs,
                FreshAtMost = freshUntil,
                EagerAt = policy.EagerPart == 0 ? long.MaxValue : EagerAt(now, freshUntil, policy.EagerPart),
                ETag = metadata.ETag,
                LastModified = metadata.LastModified,
                Tokens = policy.Options.ChangeTokens,
            },
        };
        entry.QuietUntil = QuietUntil(entry, now);
        return entry;
    }

    /// <summary>Returns the serialized value, which is kept instead of an object that must not be shared; null if the object itself is kept.</summary>
    public static LocalPayload? PayloadOf<T>(Codec<T> codec, T value, EntryPolicy policy) =>
        value is null || codec.IsShareable || policy.ShareLocalValue ? null : SerializeLocal(codec, value);

    /// <summary>Sets the value of a new entry, and its size.</summary>
    public static void Fill<T>(LocalEntry entry, Codec<T> codec, T value, LocalPayload? payload, EntryPolicy policy)
    {
        entry.Value = payload ?? (object?)value;
        long valueBytes = payload is not null ? payload.HeapBytes : value is null ? 0 : codec.EstimateBytes(value);
        entry.Bytes = policy.Options.LocalBytes ?? OverheadOf(entry.Key) + valueBytes;
    }

    /// <summary>Returns an entry with the same value and other times.</summary>
    public static LocalEntry Copy(LocalEntry entry, long freshUntil, long usableUntil) => new(entry.Key, entry.Hash)
    {
        Value = entry.Value,
        Tags = entry.Tags,
        AsOf = entry.AsOf,
        Bytes = entry.Bytes,
        QuietUntil = freshUntil,
        UsableUntil = usableUntil,
        Extras = entry.Extras is not { } extras ? null : new LocalExtras(freshUntil) { ETag = extras.ETag, LastModified = extras.LastModified, FreshAtMost = freshUntil, Tokens = extras.Tokens },
    };

    /// <summary>Returns the end of an entry's quiet time after a use.</summary>
    public static long QuietUntil(LocalEntry entry, long now)
    {
        if (entry.Extras is not { } extras)
        {
            return entry.FreshUntil;
        }

        long slides = extras.SlidingMs == 0 ? long.MaxValue : now + Math.Max(1, extras.SlidingMs / 8);
        return Math.Min(entry.FreshUntil, Math.Min(extras.EagerAt, slides));
    }

    /// <summary>Returns the expiration of an entry in the second level.</summary>
    public static LevelExpiration ExpirationOf(LocalEntry entry, in ClockReading clock) =>
        new(clock.ToUnixMs(entry.UsableUntil), entry.Extras?.SlidingMs ?? 0);

    /// <summary>Returns the header of an entry's envelope in the second level.</summary>
    public static EnvelopeHeader HeaderOf(LocalEntry entry, long freshUntil, in ClockReading clock) => new()
    {
        CreatedAt = clock.UnixNow,
        FreshUntil = clock.ToUnixMs(freshUntil),
        UsableUntil = clock.ToUnixMs(entry.UsableUntil),
        SlidingMs = entry.Extras?.SlidingMs ?? 0,
        ETag = entry.Extras?.ETag,
        LastModified = entry.Extras?.LastModified,
        Tags = entry.Tags,
    };

    /// <summary>Returns the entry of an envelope, if it is complete, of this type and still usable. Its tags are not checked.</summary>
    public LocalEntry? Decode<T>(string key, ulong hash, ReadOnlyMemory<byte> envelope, EntryPolicy policy)
    {
        Codec<T> codec = parts.Codecs.Of<T>();
        bool isShared = codec.IsShareable || policy.ShareLocalValue;
        EnvelopeHeader header;
        object? kept;
        EnvelopeStatus status;
        if (isShared)
        {
            status = parts.Codecs.TryRead(envelope, key, codec, out header, out T? value);
            kept = value;
        }
        else
        {
            status = parts.Codecs.TryReadPayload(envelope, key, codec, out header, out LocalPayload? payload);
            kept = payload;
        }

        if (status != EnvelopeStatus.Ok)
        {
            parts.Counters.Add(CacheCount.SharedUnreadable);
            parts.Log.Unreadable(key, status);
            return null;
        }

        ClockReading clock = parts.Clock.Read();
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
            Tags = header.StoredTags.Count == 0 ? null : tags.StampsOf(header.StoredTags),
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

    /// <summary>Returns the entry's value as the requested type; a copy, if the value must not be shared.</summary>
    public bool TryTake<T>(LocalEntry entry, [MaybeNullWhen(false)] out T value) => TryTakeExact(entry, out value) || TryTakeOther(entry, out value);

    /// <summary>Returns the entry's value if it has exactly the requested type, as it nearly always does. The rest of <see cref="TryTake"/> is TryTakeOther.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryTakeExact<T>(LocalEntry entry, [MaybeNullWhen(false)] out T value)
    {
        // This compares two words. A cast to a generic type would be a call.
        object? kept = entry.Value;
        if (kept is not null && kept.GetType() == typeof(T))
        {
            value = typeof(T).IsValueType ? (T)kept : Unsafe.As<object, T>(ref kept);
            return true;
        }

        value = default;
        return false;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public bool TryTakeOther<T>(LocalEntry entry, [MaybeNullWhen(false)] out T value)
    {
        switch (entry.Value)
        {
            case null:
                value = default!;
                return default(T) is null;
            case LocalPayload payload:
                return TryDeserialize(payload, out value);
            case T shared:
                value = shared;
                return true;
            default:
                parts.Counters.Add(CacheCount.TypeMismatch);
                value = default;
                return false;
        }
    }

    /// <summary>Returns the function that creates a copy of the entry's value for each caller; null if callers may share the value.</summary>
    public Func<T>? CopyOf<T>(LocalEntry entry) => entry.Value is LocalPayload payload ? CopyOf<T>(payload) : null;

    private bool TryDeserialize<T>(LocalPayload payload, [MaybeNullWhen(false)] out T value)
    {
        try
        {
            value = parts.Codecs.Copy(parts.Codecs.Of<T>(), payload);
            return true;
        }
#pragma warning disable CA1031 // A serializer may throw any exception.
        catch (Exception fault) when (fault is not OutOfMemoryException)
#pragma warning restore CA1031
        {
            // The payload comes from the serializer of another type, or from one that cannot read its own output.
            parts.Counters.Add(CacheCount.SerializationFault);
            parts.Log.NotDeserialized(typeof(T), fault);
            value = default;
            return false;
        }
    }

    // A separate method, so that the closure is allocated only when this path is taken: a method with a lambda allocates its closure on entry.
    private Func<T> CopyOf<T>(LocalPayload payload)
    {
        Codecs codecs = parts.Codecs;
        return () => codecs.Copy(codecs.Of<T>(), payload);
    }

    private static LocalPayload SerializeLocal<T>(Codec<T> codec, T value)
    {
        using var buffer = new PooledBuffer();
        codec.Serialize(value, buffer);
        return new LocalPayload(buffer.WrittenSpan.ToArray(), codec.Format, codec.TypeId);
    }

    private static long EagerAt(long from, long freshUntil, double part) =>
        freshUntil == long.MaxValue ? long.MaxValue : from + (long)((freshUntil - from) * part);

    private static long OverheadOf(string key) => EntryOverheadBytes + (2L * key.Length);
}
