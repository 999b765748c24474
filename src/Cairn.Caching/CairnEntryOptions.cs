using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Primitives;

namespace Cairn.Caching;

/// <summary>
/// How one entry is cached. What is null comes from <see cref="CairnHybridCacheOptions.DefaultEntryOptions"/>, and what is null there
/// has the default that its description names.
/// </summary>
/// <remarks>
/// Has every property of <see cref="HybridCacheEntryOptions"/> under the same name, and one of those converts to this. Immutable: make
/// one and use it for many calls. Times are rounded up to milliseconds; a negative one, or zero where that means nothing, is an
/// <see cref="ArgumentOutOfRangeException"/> of the call that uses it.
/// </remarks>
public sealed record CairnEntryOptions
{
    // Applications make their options once and bring the same few with every call: converted once, a hit allocates nothing, and what is
    // made of the converted ones is found again, too.
    private const int ConvertedPlaces = 16;
    private static readonly Converted?[] s_converted = new Converted?[ConvertedPlaces];

    /// <summary>How long a value counts as fresh, in both levels. Default 5 minutes, Microsoft's.</summary>
    public TimeSpan? Expiration { get; init; }

    /// <summary>
    /// How long this process uses its own copy before it asks the second level again, at most <see cref="Expiration"/>. Default
    /// <see cref="Expiration"/>: where changes made elsewhere reach this process there is no need to ask.
    /// </summary>
    public TimeSpan? LocalCacheExpiration { get; init; }

    /// <summary>What not to do. Replaces the default flags as a whole. Default none.</summary>
    public HybridCacheEntryFlags? Flags { get; init; }

    /// <summary>
    /// How long an entry lives without being read, within <see cref="Expiration"/>; <see cref="TimeSpan.Zero"/> if that does not matter.
    /// Default zero. A read extends it once an eighth of the time has passed, so it may end up to an eighth early.
    /// </summary>
    public TimeSpan? SlidingExpiration { get; init; }

    /// <summary>
    /// Up to this much is added to <see cref="Expiration"/> at random, so that what was cached together does not expire together. Default
    /// zero.
    /// </summary>
    public TimeSpan? Jitter { get; init; }

    /// <summary>
    /// How long after its expiration a value may still be served when no new one can be made: the factory throws, or takes longer than a
    /// time-out. Default zero: never. The second level keeps the value for as long.
    /// </summary>
    public TimeSpan? FailSafe { get; init; }

    /// <summary>
    /// How long a value that was served because the factory failed is served without trying again. Default 30 seconds: a source that is
    /// down is not asked by every request.
    /// </summary>
    public TimeSpan? FailSafeThrottle { get; init; }

    /// <summary>
    /// How long a caller waits for the factory if there is an expired value to serve instead; it goes on, and its result is kept. Default
    /// none, <see cref="Timeout.InfiniteTimeSpan"/>. Needs <see cref="FailSafe"/>.
    /// </summary>
    public TimeSpan? FactorySoftTimeout { get; init; }

    /// <summary>
    /// How long a caller waits for the factory at all: then it gets the expired value if there is one, else a
    /// <see cref="TimeoutException"/>. The factory goes on, and its result is kept. Default none, <see cref="Timeout.InfiniteTimeSpan"/>.
    /// </summary>
    public TimeSpan? FactoryHardTimeout { get; init; }

    /// <summary>
    /// The part of <see cref="Expiration"/>, above 0 and below 1, after which a hit starts a refresh in the background, so that nobody
    /// waits for it; 0 for never. Default 0.
    /// </summary>
    public double? EagerRefreshThreshold { get; init; }

    /// <summary>
    /// How long after its expiration a value is still served at once, while a new one is made in the background. Default zero: callers
    /// wait for the new one.
    /// </summary>
    public TimeSpan? StaleWhileRevalidate { get; init; }

    /// <summary>
    /// How long a caller waits for a factory that runs in another process, or on another machine, before it runs its own. Default 10
    /// seconds. One whose process has died is not waited for.
    /// </summary>
    public TimeSpan? LeaseWait { get; init; }

    /// <summary>
    /// True if callers may be given the same object, which none of them may change then. Default false, but for types that cannot be
    /// changed; others are copies, made by the serializer.
    /// </summary>
    public bool? ShareLocalValue { get; init; }

    /// <summary>True if a null that the factory returns is not cached. Default false: that there is nothing is worth remembering.</summary>
    public bool? SkipNull { get; init; }

    /// <summary>
    /// Bytes that the value takes in this process, for <see cref="CairnHybridCacheOptions.LocalMaxBytes"/>. Default an estimate: exact
    /// for text, arrays of simple types and values that are kept serialized.
    /// </summary>
    public long? LocalBytes { get; init; }

    /// <summary>
    /// What the entry depends on: a change of any of them removes it from every level and every process. They are watched by the process
    /// that made the value, for as long as it has the entry. Default none.
    /// </summary>
    public IReadOnlyList<IChangeToken>? ChangeTokens { get; init; }

    /// <summary>
    /// Topics that the entry depends on: <see cref="CairnHybridCache.RaiseTopicAsync"/> removes it from every level and every process.
    /// Default none.
    /// </summary>
    public IReadOnlyList<string>? Topics { get; init; }

    /// <summary>Takes Microsoft's options over.</summary>
    /// <param name="options">Microsoft's options; null gives null.</param>
    [return: NotNullIfNotNull(nameof(options))]
    public static implicit operator CairnEntryOptions?(HybridCacheEntryOptions? options) => FromHybridCacheEntryOptions(options);

    /// <summary>Takes Microsoft's options over.</summary>
    /// <param name="options">Microsoft's options; null gives null.</param>
    /// <returns>Options that mean the same.</returns>
    [return: NotNullIfNotNull(nameof(options))]
    public static CairnEntryOptions? FromHybridCacheEntryOptions(HybridCacheEntryOptions? options)
    {
        if (options is null)
        {
            return null;
        }

        // Acquire; pairs with the release below. Neither side ever changes: whatever is found here is right.
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
