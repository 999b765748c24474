using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Cairn.Caching.Levels;
using Cairn.Caching.Serialization;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching;

/// <summary>How a hybrid cache works. Read once, when the cache is made; checked as a whole then.</summary>
/// <remarks>The options of Microsoft's HybridCache are here under their names, with their defaults.</remarks>
public sealed class CairnHybridCacheOptions
{
    private TimeProvider _timeProvider = TimeProvider.System;
    private bool _namesTimeProvider;

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
    public int CompressionThresholdBytes { get; set; } = CodecOptions.DefaultCompressionThresholdBytes;

    /// <summary>
    /// How hard Brotli tries, 0 to 11. Default 1: from 2 on, each step takes up to twice the time to save a few bytes in a hundred.
    /// </summary>
    public int CompressionQuality { get; set; } = CodecOptions.DefaultCompressionQuality;

    /// <summary>
    /// Largest serialized value in bytes that is sent to the second level; larger ones stay in the first, and are counted. Default 1 MiB,
    /// Microsoft's.
    /// </summary>
    public long MaximumPayloadBytes { get; set; } = CodecOptions.DefaultMaximumPayloadBytes;

    /// <summary>Longest key in characters; with a longer one the factory runs and nothing is cached. Default 1,024, Microsoft's.</summary>
    public int MaximumKeyLength { get; set; } = 1_024;

    /// <summary>True if metrics are told apart by tag: the application's tags become dimensions. Default false.</summary>
    public bool ReportTagMetrics { get; set; }

    /// <summary>The key under which the <see cref="IDistributedCache"/> to use is registered. Default null: the one without a key.</summary>
    public object? DistributedCacheServiceKey { get; set; }

    /// <summary>The second level itself, if it is not to be taken from the registered services. Default null.</summary>
    public IDistributedCache? DistributedCache { get; set; }

    /// <summary>
    /// The store file to use as second level, shared by all processes that name it. Default null: the registered
    /// <see cref="IDistributedCache"/>, or no second level. <see cref="UseStoreFile"/> sets it in one line.
    /// </summary>
    public CairnStoreFileOptions? StoreFile { get; set; }

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

    /// <summary>
    /// How long a call waits for reads of the second level before they count as failed, all its steps together: above zero, up to a day.
    /// Default 1 second.
    /// </summary>
    public TimeSpan DistributedReadTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// How long after its beginning a call stops waiting for its changes of the second level, which are then done later: above zero, up to
    /// a day. The time of the factory does not count. Default 1 second.
    /// </summary>
    public TimeSpan DistributedWriteTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Calls of an <see cref="IDistributedCache"/> that fail one after the other until no more are made for a while: 1 or more. Calls of each
    /// kind (reads, writes, removals and so on) are counted, and all together. Default 5: one that fails now and then is still useful.
    /// </summary>
    public int DistributedBreakAfterFailures { get; set; } = DistributedLevelOptions.Default.BreakAfterFailures;

    /// <summary>
    /// How long it is left alone at first: above zero, up to a day. Then one call finds out whether it works again; each one that fails
    /// doubles the time. Default 5 seconds: about as long as a server takes to restart.
    /// </summary>
    public TimeSpan DistributedFirstBreak { get; set; } = DistributedLevelOptions.Default.FirstBreak;

    /// <summary>
    /// How long it is left alone at most: <see cref="DistributedFirstBreak"/> or more, up to a day. Default 60 seconds: as late is noticed
    /// that it works again.
    /// </summary>
    public TimeSpan DistributedLongestBreak { get; set; } = DistributedLevelOptions.Default.LongestBreak;

    /// <summary>
    /// Values that wait in memory to be written later, because the second level does not work: 0 or more. Above it, the oldest becomes a
    /// removal of its key. Default 10,000.
    /// </summary>
    public int DistributedMaxPendingWrites { get; set; } = DistributedLevelOptions.Default.MaxPendingWrites;

    /// <summary>Bytes of such values: 0 or more. Above it, the oldest becomes a removal of its key. Default 64 MiB.</summary>
    public long DistributedMaxPendingBytes { get; set; } = DistributedLevelOptions.Default.MaxPendingBytes;

    /// <summary>
    /// Source of time; tests replace it. Default the <see cref="System.TimeProvider"/> that is registered as a service, or else
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
    /// Settings of System.Text.Json for types that it serializes. Default null: the framework's own, but with fields, and with numbers
    /// such as NaN, so that what is read is what was written.
    /// </summary>
    public JsonSerializerOptions? JsonOptions { get; set; }

    /// <summary>Metadata of types, source-generated for example, that is asked before <see cref="JsonOptions"/>. Default none.</summary>
    public IList<IJsonTypeInfoResolver> JsonResolvers { get; } = [];

    /// <summary>
    /// In which format values of a type are written, instead of what <see cref="CairnSerializerAttribute"/> or the type itself says:
    /// <see cref="CairnFormat.Json"/>, <see cref="CairnFormat.Xml"/>, <see cref="CairnFormat.Binary"/> or <see cref="CairnFormat.Protobuf"/>.
    /// Default none.
    /// </summary>
    public IDictionary<Type, CairnFormat> Formats { get; } = new Dictionary<Type, CairnFormat>();

    /// <summary>Types whose objects callers may be given to share although nothing in the type says so. Default none.</summary>
    public ISet<Type> ShareableTypes { get; } = new HashSet<Type>();

    /// <summary>Uses a store file as second level: what this process caches survives it, and other processes share it.</summary>
    /// <param name="path">The file; null for one in the user's data folder that is named after the application.</param>
    /// <param name="configure">Sets more of the file's options; null for the defaults.</param>
    /// <returns>These options.</returns>
    public CairnHybridCacheOptions UseStoreFile(string? path = null, Action<CairnStoreFileOptions>? configure = null)
    {
        var file = new CairnStoreFileOptions { Path = path };
        configure?.Invoke(file);
        StoreFile = file;
        return this;
    }

    /// <summary>The source of time that counts unless these options name one.</summary>
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
        ThrowIfNoTimeout(DistributedFirstBreak, nameof(DistributedFirstBreak));
        ThrowIfNoTimeout(DistributedLongestBreak, nameof(DistributedLongestBreak));
        ArgumentOutOfRangeException.ThrowIfLessThan(DistributedLongestBreak, DistributedFirstBreak, nameof(DistributedLongestBreak));
        ArgumentOutOfRangeException.ThrowIfNegative(DistributedMaxPendingWrites, nameof(DistributedMaxPendingWrites));
        ArgumentOutOfRangeException.ThrowIfNegative(DistributedMaxPendingBytes, nameof(DistributedMaxPendingBytes));
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
