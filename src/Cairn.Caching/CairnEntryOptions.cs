using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Primitives;

namespace Cairn.Caching;

/// <summary>
/// The caching options of one entry. A null property takes its value from <see cref="CairnHybridCacheOptions.DefaultEntryOptions"/>. If it is
/// null there, the default in its description applies.
/// </summary>
/// <remarks>
/// Has every property of <see cref="HybridCacheEntryOptions"/> under the same name; a <see cref="HybridCacheEntryOptions"/> converts to this
/// type. Immutable: create one and use it for many calls. Times are rounded up to milliseconds. A negative time, or zero where zero has no
/// meaning, causes an <see cref="ArgumentOutOfRangeException"/> in the call that uses the options.
/// </remarks>
public sealed record CairnEntryOptions
{
    // Applications create their options once and pass the same few objects with every call. Each object is converted once, so that a hit
    // allocates nothing and lookups keyed by the converted object succeed.
    private const int ConvertedPlaces = 16;
    private static readonly Converted?[] s_converted = new Converted?[ConvertedPlaces];

    /// <summary>How long a value is fresh, in both levels. Default 5 minutes, as in Microsoft's HybridCache.</summary>
    public TimeSpan? Expiration { get; init; }

    /// <summary>
    /// How long this process uses its own copy before it reads the second level again, at most <see cref="Expiration"/>. Default
    /// <see cref="Expiration"/>: where invalidations of other processes arrive, there is no need to read again.
    /// </summary>
    public TimeSpan? LocalCacheExpiration { get; init; }

    /// <summary>The operations to leave out. Replaces the default flags as a whole. Default none.</summary>
    public HybridCacheEntryFlags? Flags { get; init; }

    /// <summary>
    /// How long an entry stays fresh without being read, within <see cref="Expiration"/>; <see cref="TimeSpan.Zero"/> for no sliding
    /// expiration. Default zero. A read extends it only after an eighth of the time has passed, so the entry may expire up to an eighth early.
    /// </summary>
    public TimeSpan? SlidingExpiration { get; init; }

    /// <summary>
    /// The maximum of a random time that is added to <see cref="Expiration"/>, so that entries cached together do not expire together. Default
    /// zero.
    /// </summary>
    public TimeSpan? Jitter { get; init; }

    /// <summary>
    /// How long after its expiration a value may still be served when the factory throws or takes longer than a time-out. Default zero:
    /// never. The second level keeps the value for the same time.
    /// </summary>
    public TimeSpan? FailSafe { get; init; }

    /// <summary>
    /// How long a value that was served after a failure of the factory is served without another attempt. Default 30 seconds, so that not every
    /// request calls a source that is down.
    /// </summary>
    public TimeSpan? FailSafeThrottle { get; init; }

    /// <summary>
    /// How long a caller waits for the factory if an expired value can be served instead. The factory continues, and its result is kept.
    /// Default none, <see cref="Timeout.InfiniteTimeSpan"/>. Requires <see cref="FailSafe"/>.
    /// </summary>
    public TimeSpan? FactorySoftTimeout { get; init; }

    /// <summary>
    /// How long a caller waits for the factory in any case. Then the caller gets the expired value if there is one, otherwise a
    /// <see cref="TimeoutException"/>. The factory continues, and its result is kept. Default none, <see cref="Timeout.InfiniteTimeSpan"/>.
    /// </summary>
    public TimeSpan? FactoryHardTimeout { get; init; }

    /// <summary>
    /// The fraction of <see cref="Expiration"/>, above 0 and below 1, after which a hit starts a refresh in the background, so that no caller
    /// waits for it; 0 for never. Default 0.
    /// </summary>
    public double? EagerRefreshThreshold { get; init; }

    /// <summary>
    /// How long after its expiration a value is still served immediately, while the factory creates a new one in the background. Default zero:
    /// callers wait for the new value.
    /// </summary>
    public TimeSpan? StaleWhileRevalidate { get; init; }

    /// <summary>
    /// How long a caller waits for a factory that runs in another process or on another machine before it runs its own. Default 10 seconds.
    /// The wait ends earlier if that process dies.
    /// </summary>
    public TimeSpan? LeaseWait { get; init; }

    /// <summary>
    /// True if callers may receive the same object; they must not modify it. Default false: callers receive copies, which the serializer makes.
    /// Objects of immutable types are always shared.
    /// </summary>
    public bool? ShareLocalValue { get; init; }

    /// <summary>True if a null that the factory returns is cached. Default true: a missing result is worth caching.</summary>
    public bool? CacheNull { get; init; }

    /// <summary>
    /// The bytes that the entry counts in <see cref="CairnHybridCacheOptions.LocalMaxBytes"/>. Default 160, the key and an estimate of the value,
    /// which is exact for text, arrays of simple types and values that are kept serialized.
    /// </summary>
    public long? LocalBytes { get; init; }

    /// <summary>
    /// The tokens that the entry depends on. A change of any of them removes the entry from every level and every process. The process that
    /// created the value watches them for as long as it has the entry. Default none.
    /// </summary>
    public IReadOnlyList<IChangeToken>? ChangeTokens { get; init; }

    /// <summary>
    /// The topics that the entry depends on. <see cref="CairnHybridCache.RaiseTopicAsync"/> removes the entry from every level and every
    /// process. Default none.
    /// </summary>
    public IReadOnlyList<string>? Topics { get; init; }

    /// <summary>Converts Microsoft's options.</summary>
    /// <param name="options">Microsoft's options; null gives null.</param>
    [return: NotNullIfNotNull(nameof(options))]
    public static implicit operator CairnEntryOptions?(HybridCacheEntryOptions? options) => FromHybridCacheEntryOptions(options);

    /// <summary>Converts Microsoft's options.</summary>
    /// <param name="options">Microsoft's options; null gives null.</param>
    /// <returns>Options with the same meaning.</returns>
    [return: NotNullIfNotNull(nameof(options))]
    public static CairnEntryOptions? FromHybridCacheEntryOptions(HybridCacheEntryOptions? options)
    {
        if (options is null)
        {
            return null;
        }

        // Acquire; pairs with the release below. Both objects are immutable, so every pair that is found here is correct.
        ref Converted? place = ref s_converted[RuntimeHelpers.GetHashCode(options) & (ConvertedPlaces - 1)];
        if (Volatile.Read(ref place) is { } found && ReferenceEquals(found.Source, options))
        {
            return found.Options;
        }

        var converted = new CairnEntryOptions
        {
            Expiration = options.Expiration,
            LocalCacheExpiration = options.LocalCacheExpiration,
            Flags = options.Flags,
        };
        Volatile.Write(ref place, new Converted(options, converted));
        return converted;
    }

    private sealed record Converted(HybridCacheEntryOptions Source, CairnEntryOptions Options);
}
