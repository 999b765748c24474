using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching;

/// <summary>How a hybrid cache works. Read once, when the cache is made; checked as a whole then.</summary>
/// <remarks>The options of Microsoft's HybridCache are here under their names, with their defaults.</remarks>
public sealed class CairnHybridCacheOptions
{
    /// <summary>
    /// Names the cache in its second level: caches with different names share nothing, those with the same name everything. 1 to 100
    /// characters. Default <c>cache</c>; for a keyed cache its key.
    /// </summary>
    public string Name { get; set; } = "cache";

    /// <summary>What calls leave open. Default: every property's own default.</summary>
    public CairnEntryOptions? DefaultEntryOptions { get; set; }

    /// <summary>True if payloads are never compressed. Default false.</summary>
    public bool DisableCompression { get; set; }

    /// <summary>
    /// Serialized bytes from which a payload is compressed, if that saves an eighth. Default 4,096: below, compressing costs more than
    /// it saves on one machine.
    /// </summary>
    public int CompressionThresholdBytes { get; set; } = 4_096;

    /// <summary>
    /// Largest serialized value in bytes that is sent to the second level; larger ones stay in the first, and are counted. Default 1 MiB,
    /// Microsoft's.
    /// </summary>
    public long MaximumPayloadBytes { get; set; } = 1 << 20;

    /// <summary>Longest key in characters; with a longer one the factory runs and nothing is cached. Default 1,024, Microsoft's.</summary>
    public int MaximumKeyLength { get; set; } = 1_024;

    /// <summary>True if metrics are told apart by tag: the application's tags become dimensions. Default false.</summary>
    public bool ReportTagMetrics { get; set; }

    /// <summary>The key under which the <see cref="IDistributedCache"/> to use is registered. Default null: the one without a key.</summary>
    public object? DistributedCacheServiceKey { get; set; }

    /// <summary>The second level itself, if it is not to be taken from the registered services. Default null.</summary>
    public IDistributedCache? DistributedCache { get; set; }

    /// <summary>
    /// The file of a Cairn store to use as second level, shared by all processes that name it; created if absent. Default null: the
    /// registered <see cref="IDistributedCache"/>, or no second level.
    /// </summary>
    public string? StorePath { get; set; }

    /// <summary>Size in bytes with which the store's file is created. Default 256 MiB, the store's.</summary>
    public long StoreCapacityBytes { get; set; } = 256L << 20;

    /// <summary>A store that is open already, to use as second level. It stays the caller's to close. Default null.</summary>
    public CairnStore? Store { get; set; }

    /// <summary>True if only the first level is used, whatever is registered. Default false.</summary>
    public bool DisableSecondLevel { get; set; }

    /// <summary>Entries that the first level holds at most. Default 100,000.</summary>
    public long LocalMaxEntries { get; set; } = 100_000;

    /// <summary>
    /// Bytes that the first level holds at most; see <see cref="CairnEntryOptions.LocalBytes"/> for how they are known. Default 64 MiB: what
    /// most services can spare without being asked.
    /// </summary>
    public long LocalMaxBytes { get; set; } = 64L << 20;

    /// <summary>True if callers may be given the same objects, whatever their type, which none of them may change. Default false.</summary>
    public bool ShareLocalValues { get; set; }

    /// <summary>How long a read of the second level may take before it counts as failed. Default 1 second.</summary>
    public TimeSpan DistributedReadTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>How long a change of the second level may take before it counts as failed, and is done later. Default 1 second.</summary>
    public TimeSpan DistributedWriteTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Source of time; tests replace it. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider TimeProvider { get; set; } = TimeProvider.System;

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(LocalMaxEntries, 1, nameof(LocalMaxEntries));
        ArgumentOutOfRangeException.ThrowIfLessThan(LocalMaxBytes, 1, nameof(LocalMaxBytes));
        ArgumentOutOfRangeException.ThrowIfLessThan(MaximumKeyLength, 1, nameof(MaximumKeyLength));
        ArgumentOutOfRangeException.ThrowIfLessThan(MaximumPayloadBytes, 1, nameof(MaximumPayloadBytes));
        ArgumentOutOfRangeException.ThrowIfNegative(CompressionThresholdBytes, nameof(CompressionThresholdBytes));
        ArgumentNullException.ThrowIfNull(TimeProvider);
        if (string.IsNullOrEmpty(Name) || Name.Length > 100)
        {
            throw new ArgumentException($"{nameof(Name)} must have 1 to 100 characters; it is '{Name}'.");
        }

        int levels = (DistributedCache is null ? 0 : 1) + (StorePath is null ? 0 : 1) + (Store is null ? 0 : 1);
        if (levels > 1)
        {
            throw new ArgumentException(
                $"Name one second level: {nameof(DistributedCache)}, {nameof(StorePath)} and {nameof(Store)} exclude each other.");
        }
    }
}
