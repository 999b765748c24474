using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Cairn.Caching.Levels;
using Cairn.Caching.Serialization;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching;

/// <summary>The options of a hybrid cache. They are read and validated once, when the cache is created.</summary>
/// <remarks>The options of Microsoft's HybridCache have the same names and defaults here.</remarks>
public sealed class CairnHybridCacheOptions
{
    private TimeProvider _timeProvider = TimeProvider.System;
    private bool _namesTimeProvider;

    /// <summary>
    /// The name of the cache in its second level, 1 to 100 characters. Caches with the same name share all entries; caches with different names
    /// share none. Default <c>cache</c>; for a keyed cache its key.
    /// </summary>
    public string Name { get; set; } = "cache";

    /// <summary>The defaults for entry options that a call leaves null. Default: each property's own default.</summary>
    public CairnEntryOptions? DefaultEntryOptions { get; set; }

    /// <summary>True if payloads are never compressed. Default false.</summary>
    public bool DisableCompression { get; set; }

    /// <summary>
    /// The serialized size in bytes from which a payload is compressed, if that saves an eighth. Default 4,096: below it, compression costs
    /// more than it saves on one machine.
    /// </summary>
    public int CompressionThresholdBytes { get; set; } = CodecOptions.DefaultCompressionThresholdBytes;

    /// <summary>
    /// The Brotli quality, 0 to 11. Default 1: from 2 on, each step takes up to twice the time and saves a few per cent.
    /// </summary>
    public int CompressionQuality { get; set; } = CodecOptions.DefaultCompressionQuality;

    /// <summary>
    /// The largest serialized value in bytes that is sent to the second level. Larger values stay in the first level and are counted. Default
    /// 1 MiB, as in Microsoft's HybridCache.
    /// </summary>
    public long MaximumPayloadBytes { get; set; } = CodecOptions.DefaultMaximumPayloadBytes;

    /// <summary>
    /// The longest key in characters. For a longer key the factory runs, and nothing is cached. Default 1,024, as in Microsoft's HybridCache.
    /// </summary>
    public int MaximumKeyLength { get; set; } = 1_024;

    /// <summary>True to report metrics by tag: the application's tags become dimensions. Default false.</summary>
    public bool ReportTagMetrics { get; set; }

    /// <summary>The service key of the registered <see cref="IDistributedCache"/> to use. Default null: the one without a key.</summary>
    public object? DistributedCacheServiceKey { get; set; }

    /// <summary>The second level, instead of a registered <see cref="IDistributedCache"/>. Default null.</summary>
    public IDistributedCache? DistributedCache { get; set; }

    /// <summary>
    /// The store file to use as second level. All processes that name it share it. Default null: the registered
    /// <see cref="IDistributedCache"/>, or no second level. <see cref="UseStoreFile"/> sets it in one line.
    /// </summary>
    public CairnStoreFileOptions? StoreFile { get; set; }

    /// <summary>False to use only the first level, even if a second level is registered. Default true.</summary>
    public bool UseSecondLevel { get; set; } = true;

    /// <summary>The maximum number of entries in the first level. Default 100,000.</summary>
    public long LocalMaxEntries { get; set; } = 100_000;

    /// <summary>
    /// The maximum size of the first level in bytes; <see cref="CairnEntryOptions.LocalBytes"/> describes how sizes are determined. Default
    /// 64 MiB, which most services can spare.
    /// </summary>
    public long LocalMaxBytes { get; set; } = 64L << 20;

    /// <summary>True if callers may receive the same objects, of any type; they must not modify them. Default false.</summary>
    public bool ShareLocalValues { get; set; }

    /// <summary>
    /// How long a call waits for its reads of the second level, all steps together, before they count as failed: above zero, up to a day.
    /// Default 1 second.
    /// </summary>
    public TimeSpan DistributedReadTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// How long after its start a call waits for its changes of the second level, which are made later if they take longer: above zero, up to
    /// a day. The time of the factory does not count. Default 1 second.
    /// </summary>
    public TimeSpan DistributedWriteTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The number of consecutive failed calls of an <see cref="IDistributedCache"/> that open the circuit breaker: 1 or more. Calls are counted
    /// for each kind (reads, writes, removals and so on) and in total. Default 5: a cache that fails occasionally remains in use.
    /// </summary>
    public int DistributedBreakAfterFailures { get; set; } = DistributedLevelOptions.Default.BreakAfterFailures;

    /// <summary>
    /// How long the circuit breaker stays open at first: above zero, up to a day. Then one call tests whether the cache works again. Each
    /// failed test doubles the time. Default 5 seconds: about as long as a server takes to restart.
    /// </summary>
    public TimeSpan DistributedMinBreak { get; set; } = DistributedLevelOptions.Default.MinBreak;

    /// <summary>
    /// How long the circuit breaker stays open at most: <see cref="DistributedMinBreak"/> or more, up to a day. Default 60 seconds: the
    /// longest delay until a recovery is noticed.
    /// </summary>
    public TimeSpan DistributedMaxBreak { get; set; } = DistributedLevelOptions.Default.MaxBreak;

    /// <summary>
    /// The maximum number of values in the write-behind queue, which holds them in memory while the second level does not work: 0 or more.
    /// Above it, the oldest value becomes a removal of its key. Default 10,000.
    /// </summary>
    public int DistributedMaxPendingWrites { get; set; } = DistributedLevelOptions.Default.MaxPendingWrites;

    /// <summary>
    /// The maximum size of these values in bytes: 0 or more. Above it, the oldest value becomes a removal of its key. Default 64 MiB.
    /// </summary>
    public long DistributedMaxPendingBytes { get; set; } = DistributedLevelOptions.Default.MaxPendingBytes;

    /// <summary>
    /// How long a process uses the state of a tag before it reads it again: above zero, up to a day. Only for an
    /// <see cref="IDistributedCache"/> that several machines share and that reports no changes (<see cref="ICacheInvalidation"/>). Default 10
    /// seconds: the longest delay of a removal by tag on another machine, for one read of each tag in that time.
    /// </summary>
    public TimeSpan DistributedTagLifetime { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// The source of time; tests replace it. Default the registered <see cref="System.TimeProvider"/> service, otherwise
    /// <see cref="TimeProvider.System"/>.
    /// </summary>
    public TimeProvider TimeProvider
    {
        get => _timeProvider;
        set
        {
            _timeProvider = value;
            _namesTimeProvider = true;
        }
    }

    /// <summary>
    /// The settings of System.Text.Json for types that it serializes. Default null: the framework's own settings, but fields and numbers such
    /// as NaN are included, so that a value is read as it was written.
    /// </summary>
    public JsonSerializerOptions? JsonOptions { get; set; }

    /// <summary>Type metadata, for example source-generated, that is used before <see cref="JsonOptions"/>. Default none.</summary>
    public IList<IJsonTypeInfoResolver> JsonResolvers { get; } = [];

    /// <summary>
    /// The formats in which values of certain types are written, instead of what <see cref="CairnSerializerAttribute"/> or the type itself
    /// specifies:
    /// <see cref="CairnFormat.Json"/>, <see cref="CairnFormat.Xml"/>, <see cref="CairnFormat.Binary"/> or <see cref="CairnFormat.Protobuf"/>.
    /// Default none.
    /// </summary>
    public IDictionary<Type, CairnFormat> Formats { get; } = new Dictionary<Type, CairnFormat>();

    /// <summary>Types whose objects callers may share although the type does not declare it. Default none.</summary>
    public ISet<Type> ShareableTypes { get; } = new HashSet<Type>();

    /// <summary>Uses a store file as second level. Its entries survive this process, and other processes share them.</summary>
    /// <param name="path">The file; null for a file in the user's data folder, named after the application.</param>
    /// <param name="configure">A function that sets more of the file's options; null for the defaults.</param>
    /// <returns>These options.</returns>
    public CairnHybridCacheOptions UseStoreFile(string? path = null, Action<CairnStoreFileOptions>? configure = null)
    {
        var file = new CairnStoreFileOptions { Path = path };
        configure?.Invoke(file);
        StoreFile = file;
        return this;
    }

    /// <summary>Sets the source of time, unless these options already name one.</summary>
    internal void UseTimeProvider(TimeProvider? registered)
    {
        if (!_namesTimeProvider && registered is not null)
        {
            _timeProvider = registered;
        }
    }

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(LocalMaxEntries, 1, nameof(LocalMaxEntries));
        ArgumentOutOfRangeException.ThrowIfLessThan(LocalMaxBytes, 1, nameof(LocalMaxBytes));
        ArgumentOutOfRangeException.ThrowIfLessThan(MaximumKeyLength, 1, nameof(MaximumKeyLength));
        ArgumentOutOfRangeException.ThrowIfLessThan(MaximumPayloadBytes, 1, nameof(MaximumPayloadBytes));
        ArgumentOutOfRangeException.ThrowIfNegative(CompressionThresholdBytes, nameof(CompressionThresholdBytes));
        ArgumentOutOfRangeException.ThrowIfNegative(CompressionQuality, nameof(CompressionQuality));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(CompressionQuality, CodecOptions.HighestCompressionQuality, nameof(CompressionQuality));
        foreach ((Type type, CairnFormat format) in Formats)
        {
            if (format is not (CairnFormat.Json or CairnFormat.Xml or CairnFormat.Binary or CairnFormat.Protobuf))
            {
                throw new ArgumentException($"{nameof(Formats)} has {format} for {type}; it takes Json, Xml, Binary and Protobuf.");
            }
        }

        ArgumentNullException.ThrowIfNull(TimeProvider);
        ThrowIfNoTimeout(DistributedReadTimeout, nameof(DistributedReadTimeout));
        ThrowIfNoTimeout(DistributedWriteTimeout, nameof(DistributedWriteTimeout));
        ArgumentOutOfRangeException.ThrowIfLessThan(DistributedBreakAfterFailures, 1, nameof(DistributedBreakAfterFailures));
        ThrowIfNoTimeout(DistributedMinBreak, nameof(DistributedMinBreak));
        ThrowIfNoTimeout(DistributedMaxBreak, nameof(DistributedMaxBreak));
        ArgumentOutOfRangeException.ThrowIfLessThan(DistributedMaxBreak, DistributedMinBreak, nameof(DistributedMaxBreak));
        ArgumentOutOfRangeException.ThrowIfNegative(DistributedMaxPendingWrites, nameof(DistributedMaxPendingWrites));
        ArgumentOutOfRangeException.ThrowIfNegative(DistributedMaxPendingBytes, nameof(DistributedMaxPendingBytes));
        ThrowIfNoTimeout(DistributedTagLifetime, nameof(DistributedTagLifetime));
        if (string.IsNullOrEmpty(Name) || Name.Length > 100)
        {
            throw new ArgumentException($"{nameof(Name)} must have 1 to 100 characters; it is '{Name}'.");
        }

        if (DistributedCache is not null && StoreFile is not null)
        {
            throw new ArgumentException($"Name one second level: {nameof(DistributedCache)} or {nameof(StoreFile)}.");
        }
    }

    private static void ThrowIfNoTimeout(TimeSpan time, string name)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(time, TimeSpan.Zero, name);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(time, TimeSpan.FromDays(1), name);
    }
}
