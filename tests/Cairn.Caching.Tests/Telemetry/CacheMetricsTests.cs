using System.Diagnostics;
using System.Diagnostics.Metrics;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Caching.Tests.Telemetry;

/// <summary>The metrics of a cache.</summary>
public sealed class CacheMetricsTests
{
    [Fact]
    public async Task Reads_are_counted_by_how_they_were_answered()
    {
        string name = NewName();
        await using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { Name = name });

        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("value"));
        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("value"));
        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("value"));

        Dictionary<string, double> figures = Read(name);
        Assert.Equal(2, figures["cairn.cache.requests local_hit"]);
        Assert.Equal(1, figures["cairn.cache.requests miss"]);
        Assert.Equal(1, figures["cairn.cache.factory.runs"]);
        Assert.Equal(1, figures["cairn.cache.entries"]);
        Assert.InRange(figures["cairn.cache.size"], 1, 1_000);
    }

    [Fact]
    public async Task Factory_is_timed_and_traced_with_its_outcome()
    {
        string name = NewName();
        var outcomes = new List<string>();
        using var meters = new MeterListener();
        meters.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument is Histogram<double> { Name: "cairn.cache.factory.duration" })
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        meters.SetMeasurementEventCallback<double>((_, _, tags, _) =>
        {
            if (tags.ToArray().Any(tag => (string?)tag.Value == name))
            {
                outcomes.Add((string)tags.ToArray().Single(tag => tag.Key == "cairn.cache.factory.outcome").Value!);
            }
        });
        meters.Start();
        var activities = new List<Activity>();
        using var traces = new ActivityListener
        {
            ShouldListenTo = source => source.Name == "Cairn.Caching",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStopped = activity =>
            {
                if ((string?)activity.GetTagItem("cairn.cache.name") == name)
                {
                    activities.Add(activity);
                }
            },
        };
        ActivitySource.AddActivityListener(traces);
        await using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { Name = name });

        await cache.GetOrCreateAsync("good", _ => new ValueTask<string>("value"));
        await Assert.ThrowsAsync<NotSupportedException>(
            () => cache.GetOrCreateAsync("bad", ValueTask<string> (_) => throw new NotSupportedException()).AsTask());

        Assert.Equal(["ok", "error"], outcomes);
        Assert.Equal([ActivityStatusCode.Unset, ActivityStatusCode.Error], activities.Select(activity => activity.Status));
        Assert.Equal("System.NotSupportedException", activities[1].GetTagItem("error.type"));
    }

    [Fact]
    public async Task Tags_are_reported_separately_on_request()
    {
        string name = NewName();
        var seen = new List<string>();
        using var meters = new MeterListener();
        meters.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Name == "cairn.cache.tag.requests")
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        meters.SetMeasurementEventCallback<long>((_, value, tags, _) =>
        {
            Dictionary<string, object?> named = tags.ToArray().ToDictionary(tag => tag.Key, tag => tag.Value);
            if ((string?)named["cairn.cache.name"] == name)
            {
                seen.Add($"{named["cairn.cache.tag"]} {named["cairn.cache.result"]} {value}");
            }
        });
        meters.Start();
        await using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { Name = name, ReportTagMetrics = true });

        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("value"), tags: ["books"]);
        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("value"), tags: ["books"]);

        Assert.Equal(["books miss 1", "books local_hit 1"], seen);
    }

    [Fact]
    public async Task Health_check_is_degraded_while_the_second_level_fails_and_healthy_otherwise()
    {
        var level = new FailingCache();
        var services = new ServiceCollection();
        services.AddSingleton(typeof(ILogger<>), typeof(NullLogger<>));
        services.AddSingleton<IDistributedCache>(level);
        services.AddCairnHybridCache();
        services.AddHealthChecks().AddCairnHybridCache();
        await using ServiceProvider provider = services.BuildServiceProvider();
        var checks = provider.GetRequiredService<HealthCheckService>();
        var cache = provider.GetRequiredService<CairnHybridCache>();

        HealthReport before = await checks.CheckHealthAsync();
        for (int i = 0; i < 20; i++)
        {
            await cache.GetOrCreateAsync($"key {i}", _ => new ValueTask<string>("value"));
        }

        HealthReport after = await checks.CheckHealthAsync();

        Assert.Equal(HealthStatus.Healthy, before.Status);
        Assert.Equal(HealthStatus.Degraded, after.Status);
        Assert.Contains("failed repeatedly", after.Entries["cairn_hybrid_cache"].Description, StringComparison.Ordinal);
    }

    private static string NewName() => $"test-{Guid.NewGuid():N}";

    private static Dictionary<string, double> Read(string cache)
    {
        var figures = new Dictionary<string, double>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, active) =>
        {
            if (instrument.Meter.Name == "Cairn.Caching" && instrument.IsObservable)
            {
                active.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) =>
        {
            Dictionary<string, object?> named = tags.ToArray().ToDictionary(tag => tag.Key, tag => tag.Value);
            if ((string?)named["cairn.cache.name"] == cache)
            {
                string suffix = named.TryGetValue("cairn.cache.result", out object? result) ? $" {result}" : "";
                figures[instrument.Name + suffix] = value;
            }
        });
        listener.Start();
        listener.RecordObservableInstruments();
        return figures;
    }

    private sealed class FailingCache : IDistributedCache
    {
        public byte[]? Get(string key) => throw new IOException("The server is gone.");

        public Task<byte[]?> GetAsync(string key, CancellationToken token = default) => throw new IOException("The server is gone.");

        public void Refresh(string key) => throw new IOException("The server is gone.");

        public Task RefreshAsync(string key, CancellationToken token = default) => throw new IOException("The server is gone.");

        public void Remove(string key) => throw new IOException("The server is gone.");

        public Task RemoveAsync(string key, CancellationToken token = default) => throw new IOException("The server is gone.");

        public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => throw new IOException("The server is gone.");

        public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default) =>
            throw new IOException("The server is gone.");
    }
}
