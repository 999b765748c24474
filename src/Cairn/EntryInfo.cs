using Cairn.Storage;

namespace Cairn;

/// <summary>What is known of an entry besides its key and value.</summary>
public readonly record struct EntryInfo
{
    // A damaged entry, whose value nobody gets to see, must not make who looks at its interval fail.
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

    internal static EntryInfo Plain(int valueBytes, ulong version) =>
        new(EntryType.Value, valueBytes, 0, version, long.MaxValue, 0, long.MaxValue);

    /// <summary>What the entry holds.</summary>
    public EntryType Type { get; }

    /// <summary>Length of the value in bytes.</summary>
    public int ValueBytes { get; }

    /// <summary>32 bits that the writer attached and the store does not interpret; 0 unless set.</summary>
    public uint Flags { get; }

    /// <summary>Different after each write of the key, and growing; for compare-and-swap. Never 0.</summary>
    public ulong Version { get; }

    /// <summary>When the entry expires, as it stands now; null if it does not.</summary>
    public DateTimeOffset? ExpiresAt => ToMoment(_deadlineUnixMs);

    /// <summary>The interval by which reads extend the entry's life; null without sliding expiration.</summary>
    public TimeSpan? SlidingInterval => _slidingMs == 0 ? null : TimeSpan.FromTicks(Math.Clamp(_slidingMs, 0, MaxSlidingMs) * TimeSpan.TicksPerMillisecond);

    /// <summary>The moment beyond which reads do not extend the entry's life; null without sliding expiration, or without a limit.</summary>
    public DateTimeOffset? SlidingLimit => _slidingMs == 0 ? null : ToMoment(_slidingLimitUnixMs);

    internal long DeadlineUnixMs => _deadlineUnixMs;

    internal long AbsoluteDeadlineUnixMs => _slidingLimitUnixMs;

    internal long SlidingMs => _slidingMs;

    /// <summary>What a server has marked the value with, for its clients.</summary>
    internal EntryFields Marks { get; init; }

    internal EntryInfo WithValueBytes(int valueBytes) =>
        new(Type, valueBytes, Flags, Version, _deadlineUnixMs, _slidingMs, _slidingLimitUnixMs) { Marks = Marks };

    private static DateTimeOffset? ToMoment(long unixMs) =>
        unixMs == long.MaxValue ? null : DateTimeOffset.FromUnixTimeMilliseconds(Math.Clamp(unixMs, 0, 253_402_300_799_999));
}
