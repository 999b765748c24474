namespace Cairn;

/// <summary>When an entry expires: never, at a moment, or some time after its last use.</summary>
/// <remarks>
/// Times are stored in milliseconds, rounded up. The default value means the default expiration of the collection. For the default
/// collection of a store, and for collections without a default expiration, that is <see cref="None"/>.
/// </remarks>
public readonly record struct Expiration
{
    internal const long LongestMs = LongestDays * 24 * 3_600_000L;

    private const int LongestDays = 100_000;

    private readonly ExpirationKind _kind;
    private readonly long _milliseconds;
    private readonly long _limitUnixMs;

    private Expiration(ExpirationKind kind, long milliseconds, long limitUnixMs)
    {
        _kind = kind;
        _milliseconds = milliseconds;
        _limitUnixMs = limitUnixMs;
    }

    internal enum ExpirationKind : byte
    {
        Default = 0,
        None = 1,
        Relative = 2,
        Absolute = 3,
        Sliding = 4,
    }

    /// <summary>Gets the expiration of an entry that never expires, even if the collection has a default expiration.</summary>
    public static Expiration None => new(ExpirationKind.None, 0, 0);

    internal ExpirationKind Kind => _kind;

    internal long Milliseconds => _milliseconds;

    internal long LimitUnixMs => _limitUnixMs;

    /// <summary>Creates the expiration of an entry that expires some time after the write.</summary>
    /// <param name="timeToLive">
    /// Above zero, up to 100,000 days, rounded up to milliseconds. <see cref="Timeout.InfiniteTimeSpan"/> means <see cref="None"/>.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">The time is zero, negative or too long.</exception>
    public static Expiration After(TimeSpan timeToLive) =>
        timeToLive == Timeout.InfiniteTimeSpan ? None : new(ExpirationKind.Relative, ToMilliseconds(timeToLive), 0);

    /// <summary>Creates the expiration of an entry that expires at a moment.</summary>
    /// <param name="moment">The moment. If it has passed, a write stores nothing and removes the earlier value.</param>
    public static Expiration At(DateTimeOffset moment) =>
        new(ExpirationKind.Absolute, CeilingMilliseconds(moment - DateTimeOffset.UnixEpoch), 0);

    /// <summary>Creates the expiration of an entry that expires when it was not read for some time, or at a limit, whichever is first.</summary>
    /// <param name="interval">Above zero, up to 100,000 days. A read within the first eighth of the interval does not extend the entry's life.</param>
    /// <param name="limit">The moment beyond which reads do not extend the entry's life. Null for no limit.</param>
    /// <exception cref="ArgumentOutOfRangeException">The interval is zero, negative or too long.</exception>
    public static Expiration Sliding(TimeSpan interval, DateTimeOffset? limit = null) =>
        new(
            ExpirationKind.Sliding,
            ToMilliseconds(interval),
            limit is null ? long.MaxValue : CeilingMilliseconds(limit.Value - DateTimeOffset.UnixEpoch));

    /// <summary>Does the same as <see cref="After"/>.</summary>
    /// <param name="timeToLive">The same as for <see cref="After"/>.</param>
    public static implicit operator Expiration(TimeSpan timeToLive) => After(timeToLive);

    /// <summary>
    /// Creates an expiration from a moment in Unix milliseconds, or <see cref="long.MaxValue"/> for none. If the interval is not 0, it is sliding: the
    /// moment is its limit, and the interval counts from each use.
    /// </summary>
    internal static Expiration Until(long deadlineUnixMs, long slidingMs) =>
        slidingMs > 0 ? new(ExpirationKind.Sliding, Math.Min(slidingMs, LongestMs), deadlineUnixMs)
        : deadlineUnixMs == long.MaxValue ? None
        : new(ExpirationKind.Absolute, deadlineUnixMs, 0);

    private static long ToMilliseconds(TimeSpan time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(time, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(time, TimeSpan.FromDays(LongestDays));
        return CeilingMilliseconds(time);
    }

    private static long CeilingMilliseconds(TimeSpan time) =>
        (time.Ticks / TimeSpan.TicksPerMillisecond) + (time.Ticks % TimeSpan.TicksPerMillisecond > 0 ? 1 : 0);
}
