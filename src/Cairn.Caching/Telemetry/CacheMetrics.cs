using System.Diagnostics.Metrics;
using Cairn.Caching.Tagging;
using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Telemetry;

// The metrics and traces of a cache, with names that follow the conventions of OpenTelemetry. Nearly all are observable instruments over
// existing counts, read when a listener asks: a hit has no cost for them.
internal sealed class CacheMetrics : IDisposable
{
    public const string Name = "Cairn.Caching";

    private readonly Meter _meter;
    private readonly bool _ownsMeter;
    private readonly KeyValuePair<string, object?> _cache;
    private readonly Histogram<double> _factoryDuration;
    private readonly Counter<long> _tagged;

    /// <summary>Publishes the metrics of a cache from now on.</summary>
    /// <param name="name">The name of the cache.</param>
    /// <param name="statistics">The function that reads the cache's statistics.</param>
    /// <param name="health">The function that reads the health of its second level.</param>
    /// <param name="counters">The counts, including those that the statistics do not have.</param>
    /// <param name="meters">The factory of the meter; null to create a meter that is disposed with the cache.</param>
    public CacheMetrics(string name, Func<CairnCacheStatistics> statistics, Func<LevelHealth> health, CacheCounters counters, IMeterFactory? meters)
    {
        _ownsMeter = meters is null;
        _meter = meters?.Create(Name) ?? new Meter(Name);
        _cache = new("cairn.cache.name", name);
        _factoryDuration = _meter.CreateHistogram<double>(
            "cairn.cache.factory.duration", "s", "Time that factories took, by outcome: ok or error.");
        _tagged = _meter.CreateCounter<long>(
            "cairn.cache.tag.requests", "{request}", "Reads of entries with a tag, by tag and result. Only with ReportTagMetrics.");

        _meter.CreateObservableCounter(
            "cairn.cache.requests", Requests, "{request}", "Reads by result: local_hit, shared_hit, stale, miss, uncached.");
        Add("cairn.cache.factory.runs", CacheCount.FactoryRun, "{run}", "Runs of factories.");
        Add("cairn.cache.factory.errors", CacheCount.FactoryFault, "{run}", "Runs of factories that ended with an exception.");
        Add("cairn.cache.factory.timeouts", CacheCount.FactoryTimeout, "{request}", "Callers that stopped waiting for a factory.");
        Add("cairn.cache.refreshes", CacheCount.Refresh, "{run}", "Refreshes in the background.");
        Add("cairn.cache.joins", CacheCount.Joined, "{request}", "Callers that got the result of another caller's factory.");
        Add("cairn.cache.rejections", CacheCount.NotKept, "{value}", "Values that were not kept because their key or a tag was changed while they were made.");
        Add("cairn.cache.oversize", CacheCount.SharedTooLarge, "{value}", "Values too large for the second level.");
        Add("cairn.cache.unreadable", CacheCount.SharedUnreadable, "{entry}", "Entries of the second level that were damaged, foreign or of another type.");
        Add("cairn.cache.serialization.errors", CacheCount.SerializationFault, "{value}", "Values that could not be serialized or read back.");
        Add("cairn.cache.sets", CacheCount.Set, "{value}", "Values that were set.");
        Add("cairn.cache.removals", CacheCount.Removed, "{key}", "Keys that were removed.");
        Add("cairn.cache.tag.removals", CacheCount.TagRemoved, "{tag}", "Tags and topics that were invalidated.");
        _meter.CreateObservableUpDownCounter("cairn.cache.entries", () => One(statistics().LocalEntries), "{entry}", "Entries in the first level.");
        _meter.CreateObservableUpDownCounter("cairn.cache.size", () => One(statistics().LocalBytes), "By", "Bytes in the first level.");
        _meter.CreateObservableCounter("cairn.cache.evictions", () => One(statistics().LocalEvictions), "{entry}", "Entries that the first level evicted.");
        _meter.CreateObservableGauge("cairn.cache.policy", Policies, "1", "1 for the eviction policy that the first level follows, 0 for the others.");
        _meter.CreateObservableGauge(
            "cairn.cache.hit_ratio.estimate", Estimates, "1", "Estimated share of reads that the first level would have answered with another policy or capacity.");
        _meter.CreateObservableCounter("cairn.cache.shared.errors", Errors, "{call}", "Calls of the second level that failed, by error: failure, timeout, refused.");
        _meter.CreateObservableUpDownCounter(
            "cairn.cache.shared.pending", () => One(health().PendingChanges), "{change}", "Changes that the second level does not have yet.");

        void Add(string instrument, CacheCount count, string unit, string description) =>
            _meter.CreateObservableCounter(instrument, () => One(counters.Sum(count)), unit, description);

        Measurement<long>[] Requests() =>
        [
            Of("cairn.cache.result", "local_hit", counters.Sum(CacheCount.LocalHit)),
            Of("cairn.cache.result", "shared_hit", counters.Sum(CacheCount.SharedHit)),
            Of("cairn.cache.result", "stale", counters.Sum(CacheCount.StaleServed)),
            Of("cairn.cache.result", "miss", counters.Sum(CacheCount.Miss)),
            Of("cairn.cache.result", "uncached", counters.Sum(CacheCount.Uncached)),
        ];

        Measurement<int>[] Policies()
        {
            string ruling = statistics().LocalPolicy;
            return [.. QueuePolicy.Candidates.Select(policy => new Measurement<int>(policy.Name == ruling ? 1 : 0, _cache, new("cairn.cache.policy.name", policy.Name)))];
        }

        Measurement<double>[] Estimates() =>
        [
            .. statistics().LocalEstimates.Select(estimate => new Measurement<double>(
                estimate.HitRatio, _cache, new("cairn.cache.policy.name", estimate.Policy), new("cairn.cache.capacity.factor", estimate.CapacityFactor))),
        ];

        Measurement<long>[] Errors() =>
        [
            Of("error.type", "failure", health().Failures),
            Of("error.type", "timeout", health().Timeouts),
            Of("error.type", "refused", health().Refused),
        ];
    }

    public static ActivitySource Activities { get; } = new(Name);

    public bool TimesFactories => _factoryDuration.Enabled;

    public void RecordFactory(TimeSpan time, bool isOk) =>
        _factoryDuration.Record(time.TotalSeconds, _cache, new KeyValuePair<string, object?>("cairn.cache.factory.outcome", isOk ? "ok" : "error"));

    public void CountTags(TagStamps tags, string result)
    {
        foreach (Tag tag in tags.Tags)
        {
            _tagged.Add(1, _cache, new KeyValuePair<string, object?>("cairn.cache.tag", tag.Name), new KeyValuePair<string, object?>("cairn.cache.result", result));
        }
    }

    public void Dispose()
    {
        // The factory shares its meters among all callers with the same name, and disposes them itself.
        if (_ownsMeter)
        {
            _meter.Dispose();
        }
    }

    private Measurement<long> One(long value) => new(value, _cache);

    private Measurement<long> Of(string name, string text, long value) => new(value, _cache, new KeyValuePair<string, object?>(name, text));
}
