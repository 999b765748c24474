namespace Cairn;

/// <summary>The information about an entry without its key and value.</summary>
public readonly record struct EntryInfo
{
    // A damaged entry can have any interval here, although its value is never returned. A caller that reads the interval must not fail.
    private const long MaxSlidingMs = long.MaxValue / TimeSpan.TicksPerMillisecond;

    private readonly long _deadlineUnixMs;
    private readonly long _slidingMs;
    private readonly long _slidingLimitUnixMs;

    internal EntryInfo(EntryType type, int valueBytes, uint flags, ulong version, long deadlineUnixMs, long slidingMs, long slidingLimitUnixMs)
    {
        Type = type;
        ValueBytes = valueBytes;
        Flags = flags;
        Version = version;
        _deadlineUnixMs = deadlineUnixMs;
        _slidingMs = slidingMs;
        _slidingLimitUnixMs = slidingLimitUnixMs;
    }

    internal static EntryInfo Plain(int valueBytes, ulong version, long deadlineUnixMs) =>
        new(EntryType.Value, valueBytes, 0, version, deadlineUnixMs, 0, deadlineUnixMs);

    /// <summary>Gets the type of the entry's content.</summary>
    public EntryType Type { get; }

    /// <summary>Length of the value in bytes.</summary>
    public int ValueBytes { get; }

    /// <summary>Gets the 32 bits that the writer attached. The store does not interpret them. Default 0.</summary>
    public uint Flags { get; }

    /// <summary>Gets the version of the entry, for compare-and-swap. Each write of the key gives it a new, larger version. Never 0.</summary>
    public ulong Version { get; }

    /// <summary>Gets the moment at which the entry expires, as of now. Null if it does not expire.</summary>
    public DateTimeOffset? ExpiresAt => ToMoment(_deadlineUnixMs);

    /// <summary>Gets the interval by which reads extend the entry's life. Null without sliding expiration.</summary>
    public TimeSpan? SlidingInterval => _slidingMs == 0 ? null : TimeSpan.FromTicks(Math.Clamp(_slidingMs, 0, MaxSlidingMs) * TimeSpan.TicksPerMillisecond);

    /// <summary>
    /// Gets the moment beyond which reads do not extend the entry's life. Null without sliding expiration or without a limit.
    /// </summary>
    public DateTimeOffset? SlidingLimit => _slidingMs == 0 ? null : ToMoment(_slidingLimitUnixMs);

    internal long DeadlineUnixMs => _deadlineUnixMs;

    internal long AbsoluteDeadlineUnixMs => _slidingLimitUnixMs;

    internal long SlidingMs => _slidingMs;

    /// <summary>Gets the marks that a server has attached to the value for its clients.</summary>
    internal EntryFields Marks { get; init; }

    /// <summary>Gets the version that a client of memcached's protocol chose; 0 if none did.</summary>
    internal ulong ChosenVersion { get; init; }

    internal EntryInfo WithValueBytes(int valueBytes) =>
        new(Type, valueBytes, Flags, Version, _deadlineUnixMs, _slidingMs, _slidingLimitUnixMs) 
        {
            Marks = Marks, ChosenVersion = ChosenVersion,
        };

    private static DateTimeOffset? ToMoment(long unixMs) =>
        unixMs == long.MaxValue ? null : DateTimeOffset.FromUnixTimeMilliseconds(Math.Clamp(unixMs, 0, 253_402_300_799_999));
}
