using Cairn.Caching.Timing;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Policies;

/// <summary>Validated entry options with all defaults, in milliseconds; <see cref="long.MaxValue"/> means no limit.</summary>
internal sealed class EntryPolicy
{
    // Applications create their options once and pass the same few objects with every call.
    private const int Places = 16;

    // A hundred years. Longer times overflow the arithmetic of some caches.
    private const long LongestSlidingMs = 36_500L * 24 * 60 * 60 * 1000;

    private Made?[]? _made;

    private EntryPolicy(CairnEntryOptions options)
    {
        Options = options;
        ExpirationMs = Positive(options.Expiration, DefaultExpiration, nameof(options.Expiration));
        LocalMs = Math.Min(ExpirationMs, Positive(options.LocalCacheExpiration, options.Expiration ?? DefaultExpiration, nameof(options.LocalCacheExpiration)));
        Flags = options.Flags ?? HybridCacheEntryFlags.None;
        SlidingMs = NotNegative(options.SlidingExpiration, TimeSpan.Zero, nameof(options.SlidingExpiration));
        JitterMs = NotNegative(options.Jitter, TimeSpan.Zero, nameof(options.Jitter));
        if (SlidingMs >= Math.Min(CacheClock.Later(ExpirationMs, JitterMs), LongestSlidingMs))
        {
            SlidingMs = 0; // No entry lives long enough to slide.
        }

        FailSafeMs = NotNegative(options.FailSafe, TimeSpan.Zero, nameof(options.FailSafe));
        ThrottleMs = NotNegative(options.FailSafeThrottle, DefaultThrottle, nameof(options.FailSafeThrottle));
        SoftTimeout = Wait(options.FactorySoftTimeout, Timeout.InfiniteTimeSpan, nameof(options.FactorySoftTimeout));
        HardTimeout = Wait(options.FactoryHardTimeout, Timeout.InfiniteTimeSpan, nameof(options.FactoryHardTimeout));
        RevalidateMs = NotNegative(options.StaleWhileRevalidate, TimeSpan.Zero, nameof(options.StaleWhileRevalidate));
        LeaseWait = Wait(options.LeaseWait, DefaultLeaseWait, nameof(options.LeaseWait));
        double eager = options.EagerRefreshThreshold ?? 0;
        if (!(eager is >= 0 and < 1))
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), eager, $"{nameof(CairnEntryOptions.EagerRefreshThreshold)} is a part of the expiration: 0 or more, below 1.");
        }

        EagerPart = eager;
        ShareLocalValue = options.ShareLocalValue ?? false;
        CachesNull = options.CacheNull ?? true;
        if (options.LocalBytes is < 0)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.LocalBytes, $"{nameof(CairnEntryOptions.LocalBytes)} is a number of bytes: 0 or more.");
        }
    }

    public static TimeSpan DefaultExpiration { get; } = TimeSpan.FromMinutes(5);

    public static TimeSpan DefaultThrottle { get; } = TimeSpan.FromSeconds(30);

    public static TimeSpan DefaultLeaseWait { get; } = TimeSpan.FromSeconds(10);

    /// <summary>The merged options from which the policy was created.</summary>
    public CairnEntryOptions Options { get; }

    public long ExpirationMs { get; }

    public long LocalMs { get; }

    public HybridCacheEntryFlags Flags { get; }

    public long SlidingMs { get; }

    public long JitterMs { get; }

    public long FailSafeMs { get; }

    public long ThrottleMs { get; }

    public TimeSpan SoftTimeout { get; }

    public TimeSpan HardTimeout { get; }

    /// <summary>The hard time-out as a comparable time: <see cref="TimeSpan.MaxValue"/> if infinite.</summary>
    public TimeSpan LongestWait => HardTimeout == Timeout.InfiniteTimeSpan ? TimeSpan.MaxValue : HardTimeout;

    public long RevalidateMs { get; }

    public TimeSpan LeaseWait { get; }

    public double EagerPart { get; }

    public bool ShareLocalValue { get; }

    public bool CachesNull { get; }

    public bool ReadsLocal => (Flags & HybridCacheEntryFlags.DisableLocalCacheRead) == 0;

    /// <summary>Returns whether a call with these options, over the defaults of this policy, reads the first level.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool ReadsLocalWith(HybridCacheEntryOptions? options) =>
        options?.Flags is { } flags ? (flags & HybridCacheEntryFlags.DisableLocalCacheRead) == 0 : ReadsLocal;

    /// <inheritdoc cref="ReadsLocalWith(HybridCacheEntryOptions)"/>
    public bool ReadsLocalWith(CairnEntryOptions? options) =>
        options?.Flags is { } flags ? (flags & HybridCacheEntryFlags.DisableLocalCacheRead) == 0 : ReadsLocal;

    public bool WritesLocal => (Flags & HybridCacheEntryFlags.DisableLocalCacheWrite) == 0;

    public bool ReadsShared => (Flags & HybridCacheEntryFlags.DisableDistributedCacheRead) == 0;

    public bool WritesShared => (Flags & HybridCacheEntryFlags.DisableDistributedCacheWrite) == 0;

    public bool RunsFactory => (Flags & HybridCacheEntryFlags.DisableUnderlyingData) == 0;

    public bool Compresses => (Flags & HybridCacheEntryFlags.DisableCompression) == 0;

    /// <summary>How long an expired value remains usable: the longest time that a feature needs.</summary>
    public long StaleMs => Math.Max(FailSafeMs, RevalidateMs);

    /// <summary>Creates the policy of options without further defaults.</summary>
    /// <exception cref="ArgumentOutOfRangeException">An option is outside its range.</exception>
    public static EntryPolicy Of(CairnEntryOptions options) => new(options) { _made = new Made?[Places] };

    /// <summary>Returns the policy of one call: its options, completed by the defaults.</summary>
    public EntryPolicy With(CairnEntryOptions? options)
    {
        if (options is null || ReferenceEquals(options, Options))
        {
            return this;
        }

        // Change tokens are used for one call only, so such a policy is not remembered.
        return options.ChangeTokens is null ? Find(options) ?? Keep(options, Merge(options)) : Merge(options);
    }

    /// <inheritdoc cref="With(CairnEntryOptions)"/>
    public EntryPolicy With(HybridCacheEntryOptions? options) =>
        options is null ? this : Find(options) ?? Keep(options, Merge(CairnEntryOptions.FromHybridCacheEntryOptions(options)!));

    // Options are immutable, so a policy that was created from them stays correct. Acquire; pairs with the release in Keep.
    private EntryPolicy? Find(object options) =>
        _made is { } made && Volatile.Read(ref made[PlaceOf(options)]) is { } found && ReferenceEquals(found.Options, options) ? found.Policy : null;

    private EntryPolicy Keep(object options, EntryPolicy policy)
    {
        if (_made is { } made)
        {
            Volatile.Write(ref made[PlaceOf(options)], new Made(options, policy));
        }

        return policy;
    }

    private static int PlaceOf(object options) => RuntimeHelpers.GetHashCode(options) & (Places - 1);

    private EntryPolicy Merge(CairnEntryOptions options) =>
        new(new CairnEntryOptions
        {
            Expiration = options.Expiration ?? Options.Expiration,

            // A call that sets the expiration without the local expiration does not use the local expiration of the defaults.
            LocalCacheExpiration = options.LocalCacheExpiration ?? (options.Expiration is null ? Options.LocalCacheExpiration : null),
            Flags = options.Flags ?? Options.Flags,
            SlidingExpiration = options.SlidingExpiration ?? Options.SlidingExpiration,
            Jitter = options.Jitter ?? Options.Jitter,
            FailSafe = options.FailSafe ?? Options.FailSafe,
            FailSafeThrottle = options.FailSafeThrottle ?? Options.FailSafeThrottle,
            FactorySoftTimeout = options.FactorySoftTimeout ?? Options.FactorySoftTimeout,
            FactoryHardTimeout = options.FactoryHardTimeout ?? Options.FactoryHardTimeout,
            EagerRefreshThreshold = options.EagerRefreshThreshold ?? Options.EagerRefreshThreshold,
            StaleWhileRevalidate = options.StaleWhileRevalidate ?? Options.StaleWhileRevalidate,
            LeaseWait = options.LeaseWait ?? Options.LeaseWait,
            ShareLocalValue = options.ShareLocalValue ?? Options.ShareLocalValue,
            CacheNull = options.CacheNull ?? Options.CacheNull,
            LocalBytes = options.LocalBytes ?? Options.LocalBytes,
            ChangeTokens = options.ChangeTokens ?? Options.ChangeTokens,
            Topics = options.Topics ?? Options.Topics,
        });

    private static long Positive(TimeSpan? value, TimeSpan fallback, string name)
    {
        TimeSpan time = value ?? fallback;
        return time > TimeSpan.Zero ? Milliseconds(time) : throw OutOfRange(time, name, "above zero");
    }

    private static long NotNegative(TimeSpan? value, TimeSpan fallback, string name)
    {
        TimeSpan time = value ?? fallback;
        return time >= TimeSpan.Zero ? Milliseconds(time) : throw OutOfRange(time, name, "zero or more");
    }

    private static TimeSpan Wait(TimeSpan? value, TimeSpan fallback, string name)
    {
        TimeSpan time = value ?? fallback;
        return time == Timeout.InfiniteTimeSpan || (time >= TimeSpan.Zero && time <= LongestTimer)
            ? time
            : throw OutOfRange(time, name, $"zero to {LongestTimer}, or Timeout.InfiniteTimeSpan");
    }

    // The longest time that timers support.
    private static TimeSpan LongestTimer { get; } = TimeSpan.FromMilliseconds(uint.MaxValue - 1);

    private static long Milliseconds(TimeSpan time) =>
        time == TimeSpan.MaxValue
            ? long.MaxValue
            : (time.Ticks / TimeSpan.TicksPerMillisecond) + (time.Ticks % TimeSpan.TicksPerMillisecond > 0 ? 1 : 0);

    private static ArgumentOutOfRangeException OutOfRange(TimeSpan time, string name, string range) =>
        new("options", time, $"{name} must be {range}.");

    private sealed record Made(object Options, EntryPolicy Policy);
}
