using Cairn.Caching.Policies;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Primitives;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>The cache that a registration creates, and the options that it refuses.</summary>
public sealed class OptionsTests
{
    public static TheoryData<string, Action<CairnHybridCacheOptions>> Refused => new()
    {
        { nameof(CairnHybridCacheOptions.LocalMaxEntries), options => options.LocalMaxEntries = 0 },
        { nameof(CairnHybridCacheOptions.LocalMaxBytes), options => options.LocalMaxBytes = 0 },
        { nameof(CairnHybridCacheOptions.MaximumKeyLength), options => options.MaximumKeyLength = 0 },
        { nameof(CairnHybridCacheOptions.MaximumPayloadBytes), options => options.MaximumPayloadBytes = 0 },
        { nameof(CairnHybridCacheOptions.CompressionThresholdBytes), options => options.CompressionThresholdBytes = -1 },
        { nameof(CairnHybridCacheOptions.Name), options => options.Name = "" },
        { nameof(CairnHybridCacheOptions.Name), options => options.Name = new string('n', 101) },
        { nameof(CairnHybridCacheOptions.TimeProvider), options => options.TimeProvider = null! },
        { nameof(CairnHybridCacheOptions.DistributedReadTimeout), options => options.DistributedReadTimeout = TimeSpan.Zero },
        { nameof(CairnHybridCacheOptions.DistributedWriteTimeout), options => options.DistributedWriteTimeout = TimeSpan.FromSeconds(-2) },
        { nameof(CairnHybridCacheOptions.DistributedBreakAfterFailures), options => options.DistributedBreakAfterFailures = 0 },
        { nameof(CairnHybridCacheOptions.DistributedMinBreak), options => options.DistributedMinBreak = TimeSpan.Zero },
        { nameof(CairnHybridCacheOptions.DistributedMaxBreak), options => options.DistributedMaxBreak = TimeSpan.FromSeconds(4) },
        { nameof(CairnHybridCacheOptions.DistributedMaxPendingWrites), options => options.DistributedMaxPendingWrites = -1 },
        { nameof(CairnHybridCacheOptions.DistributedMaxPendingBytes), options => options.DistributedMaxPendingBytes = -1 },
        { nameof(CairnHybridCacheOptions.DistributedTagLifetime), options => options.DistributedTagLifetime = TimeSpan.Zero },
        { nameof(CairnHybridCacheOptions.StoreFile), options => options.UseStoreFile("file").DistributedCache = new Levels.FaultyDistributedCache() },
        { nameof(CairnEntryOptions.Expiration), options => options.DefaultEntryOptions = new() { Expiration = TimeSpan.Zero } },
        { nameof(CairnEntryOptions.LocalCacheExpiration), options => options.DefaultEntryOptions = new() { LocalCacheExpiration = TimeSpan.FromTicks(-1) } },
        { nameof(CairnEntryOptions.Jitter), options => options.DefaultEntryOptions = new() { Jitter = TimeSpan.FromTicks(-1) } },
        { nameof(CairnEntryOptions.FailSafe), options => options.DefaultEntryOptions = new() { FailSafe = TimeSpan.FromTicks(-1) } },
        { nameof(CairnEntryOptions.FactorySoftTimeout), options => options.DefaultEntryOptions = new() { FactorySoftTimeout = TimeSpan.FromDays(50) } },
        { nameof(CairnEntryOptions.FactoryHardTimeout), options => options.DefaultEntryOptions = new() { FactoryHardTimeout = TimeSpan.FromSeconds(-2) } },
        { nameof(CairnEntryOptions.EagerRefreshThreshold), options => options.DefaultEntryOptions = new() { EagerRefreshThreshold = 1 } },
        { nameof(CairnEntryOptions.EagerRefreshThreshold), options => options.DefaultEntryOptions = new() { EagerRefreshThreshold = double.NaN } },
        { nameof(CairnEntryOptions.LocalBytes), options => options.DefaultEntryOptions = new() { LocalBytes = -1 } },
    };

    [Theory]
    [MemberData(nameof(Refused))]
    public void Option_out_of_its_range_is_refused_by_name_when_the_cache_is_made(string name, Action<CairnHybridCacheOptions> set)
    {
        var options = new CairnHybridCacheOptions();
        set(options);

        ArgumentException refusal = Assert.ThrowsAny<ArgumentException>(() => CairnHybridCache.Create(options));

        Assert.Contains(name, refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(CachesUnderTest.Store, long.MaxValue)]
    [InlineData(CachesUnderTest.Store, long.MaxValue - 1)]
    [InlineData(CachesUnderTest.Memory, long.MaxValue)]
    [InlineData(CachesUnderTest.Memory, long.MaxValue - 1)]
    public async Task Longest_times_mean_no_expiration(string level, long ticks)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions
        {
            Expiration = TimeSpan.FromTicks(ticks),
            LocalCacheExpiration = TimeSpan.FromTicks(ticks),
            SlidingExpiration = TimeSpan.FromTicks(ticks),
            FailSafe = TimeSpan.FromTicks(ticks),
            FailSafeThrottle = TimeSpan.FromTicks(ticks),
            StaleWhileRevalidate = TimeSpan.FromTicks(ticks),
            Jitter = TimeSpan.FromTicks(ticks),
            EagerRefreshThreshold = 0.5,
        };

        await cache.SetAsync("key", "value", options);
        caches.Clock.Set(caches.Clock.Now.AddDays(10_000));

        Assert.Equal("value", (await cache.GetAsync<string>("key")).Value);
        Assert.Equal("value", (await caches.Add().GetAsync<string>("key")).Value);
    }

    [Fact]
    public void Every_option_of_an_entry_applies_if_it_is_in_a_call_or_in_the_defaults()
    {
        Assert.All(typeof(CairnEntryOptions).GetProperties(), property =>
        {
            object value = (Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType) switch
            {
                var type when type == typeof(TimeSpan) => TimeSpan.FromSeconds(7),
                var type when type == typeof(double) => 0.5,
                var type when type == typeof(long) => 7L,
                var type when type == typeof(bool) => true,
                var type when type == typeof(HybridCacheEntryFlags) => HybridCacheEntryFlags.DisableCompression,
                var type when type == typeof(IReadOnlyList<string>) => new[] { "topic" },
                _ => new[] { new CancellationChangeToken(CancellationToken.None) },
            };
            var options = new CairnEntryOptions();
            property.SetValue(options, value);

            EntryPolicy ofCall = EntryPolicy.Of(new CairnEntryOptions()).With(options);
            EntryPolicy ofDefaults = EntryPolicy.Of(options).With(new CairnEntryOptions());

            Assert.Equal((value, value), (property.GetValue(ofCall.Options), property.GetValue(ofDefaults.Options)));
        });
    }

    [Fact]
    public async Task Call_with_an_option_out_of_its_range_is_refused()
    {
        await using CairnHybridCache cache = CairnHybridCache.Create();

        ArgumentOutOfRangeException refusal = await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await cache.GetOrCreateAsync(
            "key", _ => new ValueTask<string>("value"), new HybridCacheEntryOptions { Expiration = TimeSpan.FromSeconds(-1) }));

        Assert.Contains(nameof(CairnEntryOptions.Expiration), refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Caches_with_keys_have_their_own_first_level_options_and_name()
    {
        using var directory = new StoreDirectory();
        var services = new ServiceCollection();
        services.AddCairnHybridCache(options => options.UseStoreFile(directory.FilePath, file => file.FlushOnClose = false));
        services.AddKeyedCairnHybridCache("books", options =>
        {
            options.UseStoreFile(directory.FilePath, file => file.FlushOnClose = false);
            options.LocalMaxEntries = 10;
        });
        services.AddKeyedCairnHybridCache("alone", options => options.UseSecondLevel = false);
        await using ServiceProvider provider = services.BuildServiceProvider();
        HybridCache plain = provider.GetRequiredService<HybridCache>();
        CairnHybridCache books = provider.GetRequiredKeyedService<CairnHybridCache>("books");
        CairnHybridCache alone = provider.GetRequiredKeyedService<CairnHybridCache>("alone");

        await plain.SetAsync("key", "plain", tags: ["tag"]);
        await books.SetAsync("key", "books", tags: ["tag"]);
        await alone.SetAsync("key", "alone", tags: ["tag"]);
        await plain.RemoveByTagAsync("tag");

        Assert.Same(plain, provider.GetRequiredService<CairnHybridCache>());
        Assert.Same(books, provider.GetRequiredKeyedService<HybridCache>("books"));
        Assert.Equal(["cache", "books", "alone"], new[] { ((CairnHybridCache)plain).Name, books.Name, alone.Name });
        Assert.False((await ((CairnHybridCache)plain).GetAsync<string>("key")).IsFound);
        Assert.Equal("books", (await books.GetAsync<string>("key")).Value);
        Assert.Equal("alone", (await alone.GetAsync<string>("key")).Value);
    }

    [Fact]
    public async Task Second_level_is_what_the_options_name_before_what_is_registered()
    {
        var registered = new Levels.FaultyDistributedCache();
        var named = new Levels.FaultyDistributedCache();
        var keyed = new Levels.FaultyDistributedCache();
        var services = new ServiceCollection();
        services.AddSingleton<IDistributedCache>(registered);
        services.AddKeyedSingleton<IDistributedCache>("key", keyed);
        services.AddCairnHybridCache();
        services.AddKeyedCairnHybridCache("named", options => options.DistributedCache = named);
        services.AddKeyedCairnHybridCache("keyed", options => options.DistributedCacheServiceKey = "key");
        services.AddKeyedCairnHybridCache("none", options => options.UseSecondLevel = false);
        services.AddKeyedCairnHybridCache("missing", options => options.DistributedCacheServiceKey = "other");
        await using ServiceProvider provider = services.BuildServiceProvider();

        await provider.GetRequiredService<HybridCache>().SetAsync("key", "value");
        Assert.Equal((true, false, false), (!registered.Content.IsEmpty, !named.Content.IsEmpty, !keyed.Content.IsEmpty));
        await provider.GetRequiredKeyedService<HybridCache>("named").SetAsync("key", "value");
        Assert.Equal((true, true, false), (!registered.Content.IsEmpty, !named.Content.IsEmpty, !keyed.Content.IsEmpty));
        await provider.GetRequiredKeyedService<HybridCache>("keyed").SetAsync("key", "value");
        Assert.False(keyed.Content.IsEmpty);
        int before = registered.Calls.Count;
        await provider.GetRequiredKeyedService<HybridCache>("none").SetAsync("key", "value");
        Assert.Equal(before, registered.Calls.Count);
        InvalidOperationException refusal = Assert.Throws<InvalidOperationException>(() => provider.GetRequiredKeyedService<HybridCache>("missing"));
        Assert.Contains("'other'", refusal.Message, StringComparison.Ordinal);
    }
}
