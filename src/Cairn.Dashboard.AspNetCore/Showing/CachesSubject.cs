using System.Text.Json;
using Cairn.Caching;
using Cairn.Caching.Telemetry;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.History;
using Cairn.Dashboard.Pages.Keys;
using Cairn.Dashboard.Pages.Reports;
using Microsoft.Extensions.Logging;

namespace Cairn.Dashboard.AspNetCore.Showing;

/// <summary>A cache of the application, which is created at its first use.</summary>
/// <param name="Name">The registered name; empty for the cache without a key.</param>
/// <param name="Get">Returns the cache and creates it if necessary.</param>
internal sealed record ShownCache(string Name, Func<CairnHybridCache> Get);

/// <summary>The hybrid caches of an application.</summary>
internal sealed partial class CachesSubject : IDashboardSubject, IDisposable
{
    private const string NameOfOnly = "cache";

    private static readonly string[] s_views = ["overview"];

    private static readonly Series[] s_series =
    [
        new("localHits", SeriesKind.Counter), new("sharedHits", SeriesKind.Counter), new("staleServed", SeriesKind.Counter),
        new("misses", SeriesKind.Counter), new("factoryRuns", SeriesKind.Counter), new("factoryFaults", SeriesKind.Counter),
        new("joined", SeriesKind.Counter), new("sets", SeriesKind.Counter), new("removals", SeriesKind.Counter),
        new("tagRemovals", SeriesKind.Counter), new("localEntries", SeriesKind.Gauge), new("localBytes", SeriesKind.Gauge),
    ];

    private readonly Dictionary<string, (ShownCache Cache, SampleHistory History)> _caches = new(StringComparer.Ordinal);
    private readonly ILogger _logger;

    public CachesSubject(string title, IReadOnlyList<ShownCache> caches, ILogger logger)
    {
        Title = title;
        _logger = logger;
        foreach (ShownCache cache in caches)
        {
            _caches.Add(
                cache.Name.Length == 0 ? NameOfOnly : cache.Name,
                (cache, new SampleHistory(s_series, (_, row) => Read(cache.Get(), row), TimeProvider.System)));
        }
    }

    public string Kind => "caches";

    public string Title { get; }

    public string Version => StoreSubject.OwnVersion;

    public IReadOnlyList<string> Channels => [.. _caches.Keys.Order(StringComparer.Ordinal)];

    public KeyBrowser? Keys => null;

    public IReadOnlyList<string> ViewsFor(DashboardUser user) => s_views;

    public SampleHistory? HistoryOf(string channel) => _caches.TryGetValue(channel, out var shown) ? shown.History : null;

    public void WriteNow(Utf8JsonWriter writer, string channel)
    {
        CairnHybridCache cache = _caches[channel].Cache.Get();
        CairnCacheStatistics s = cache.GetStatistics();
        LevelHealth health = cache.LevelHealth;
        writer.WriteStartObject("cache"u8);
        writer.WriteString("name"u8, cache.Name);
        writer.WriteBoolean("hasSecondLevel"u8, cache.HasSecondLevel);
        writer.WriteString("trouble"u8, TroubleOf(health));
        writer.WriteNumber("localHits"u8, s.LocalHits);
        writer.WriteNumber("sharedHits"u8, s.SharedHits);
        writer.WriteNumber("misses"u8, s.Misses);
        writer.WriteNumber("staleServed"u8, s.StaleServed);
        writer.WriteNumber("joined"u8, s.Joined);
        writer.WriteNumber("factoryRuns"u8, s.FactoryRuns);
        writer.WriteNumber("factoryFaults"u8, s.FactoryFaults);
        writer.WriteNumber("factoryTimeouts"u8, s.FactoryTimeouts);
        writer.WriteNumber("refreshes"u8, s.Refreshes);
        writer.WriteNumber("notKept"u8, s.NotKept);
        writer.WriteNumber("unreadable"u8, s.Unreadable);
        writer.WriteNumber("sets"u8, s.Sets);
        writer.WriteNumber("removals"u8, s.Removals);
        writer.WriteNumber("tagRemovals"u8, s.TagRemovals);
        writer.WriteNumber("localEntries"u8, s.LocalEntries);
        writer.WriteNumber("localBytes"u8, s.LocalBytes);
        writer.WriteNumber("localEvictions"u8, s.LocalEvictions);
        writer.WriteString("localPolicy"u8, s.LocalPolicy);
        writer.WriteNumber("localPolicyChanges"u8, s.LocalPolicyChanges);
        if (s.LocalPolicyAge is { } age)
        {
            writer.WriteNumber("localPolicySeconds"u8, (long)age.TotalSeconds);
        }

        writer.WriteStartArray("localEstimates"u8);
        foreach (LocalHitEstimate estimate in s.LocalEstimates)
        {
            writer.WriteStartObject();
            writer.WriteString("policy"u8, estimate.Policy);
            writer.WriteNumber("capacityFactor"u8, estimate.CapacityFactor);
            writer.WriteNumber("hitRatio"u8, estimate.HitRatio);
            writer.WriteNumber("margin"u8, estimate.Margin);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteNumber("owedChanges"u8, health.PendingChanges);
        writer.WriteNumber("levelFailures"u8, health.Failures);
        writer.WriteNumber("levelTimeouts"u8, health.Timeouts);
        writer.WriteEndObject();
    }

    public bool TryWriteView(string view, Utf8JsonWriter writer, DashboardUser user) => false;

    public void LogError(string message) => LogFailure(_logger, message);

    public void Dispose()
    {
        foreach ((_, SampleHistory history) in _caches.Values)
        {
            history.Dispose();
        }
    }

    private static bool Read(CairnHybridCache cache, long[] row)
    {
        CairnCacheStatistics s = cache.GetStatistics();
        ((ReadOnlySpan<long>)
        [
            s.LocalHits, s.SharedHits, s.StaleServed, s.Misses, s.FactoryRuns, s.FactoryFaults, s.Joined, s.Sets, s.Removals, s.TagRemovals,
            s.LocalEntries, s.LocalBytes,
        ]).CopyTo(row);
        return true;
    }

    private static string? TroubleOf(LevelHealth health) => health switch
    {
        { IsBroken: true } => "The second level has failed repeatedly, and the cache makes no calls to it for a while",
        { IsCutOff: true } => "Invalidations from other machines do not arrive: nothing older than two seconds is served from memory",
        { PendingChanges: 1 } => "1 change of the second level is pending",
        { PendingChanges: > 0 } => $"{health.PendingChanges} changes of the second level are pending",
        _ => null,
    };

    [LoggerMessage(Level = LogLevel.Error, Message = "{Problem}")]
    private static partial void LogFailure(ILogger logger, string problem);
}
