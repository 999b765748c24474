namespace Cairn.Storage;

/// <summary>An expiration in the form in which an entry records it.</summary>
internal readonly record struct ResolvedExpiration(long Deadline, long SlidingMs, long NowMs)
{
    public static ResolvedExpiration Never => new(long.MaxValue, 0, 0);

    public bool IsNever => Deadline == long.MaxValue && SlidingMs == 0;

    /// <summary>Gets whether the entry has expired before it is written.</summary>
    public bool IsPast => !IsNever && EarliestDeadline <= NowMs;

    public long EarliestDeadline => SlidingMs == 0 ? Deadline : Math.Min(Deadline, NowMs + SlidingMs);

    public EntryFields Fields =>
        (Deadline != long.MaxValue ? EntryFields.Deadline : 0) | (SlidingMs != 0 ? EntryFields.Sliding : 0);

    public static unsafe ResolvedExpiration From(Expiration expiration, StoreMemory memory, uint collection, StoreClock clock)
    {
        switch (expiration.Kind)
        {
            case Expiration.ExpirationKind.None:
                return Never;
            case Expiration.ExpirationKind.Relative:
                long now = clock.NowMs();
                return new(now + expiration.Milliseconds, 0, now);
            case Expiration.ExpirationKind.Absolute:
                return new(expiration.Milliseconds, 0, clock.NowMs());
            case Expiration.ExpirationKind.Sliding:
                return new(expiration.LimitUnixMs, expiration.Milliseconds, clock.NowMs());
            default:
                return collection == 0 ? Never : FromDefault((CollectionRecord*)memory.CollectionRecord((int)collection), clock);
        }
    }

    private static unsafe ResolvedExpiration FromDefault(CollectionRecord* record, StoreClock clock)
    {
        // The fields are read once and then checked, because the record has no checksum.
        int kind = record->ExpirationKind;
        long milliseconds = Math.Min(record->ExpirationMs, Expiration.LongestMs);
        if (kind is not (CollectionRecord.ExpirationRelative or CollectionRecord.ExpirationSliding) || milliseconds <= 0)
        {
            return Never;
        }

        long now = clock.NowMs();
        return kind == CollectionRecord.ExpirationSliding
            ? new(long.MaxValue, milliseconds, now)
            : new(now + milliseconds, 0, now);
    }
}
