using System.Globalization;
using System.Net;
using System.Text;
using Cairn.Caching;
using Cairn.Memcached.Ring;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Memcached.Tests;

/// <summary>A cache on memcached servers: stock ones and Cairn's.</summary>
public sealed class MemcachedCacheTests
{
    private static readonly TimeSpan s_long = TimeSpan.FromMinutes(1);
    private static readonly byte[] s_value = Encoding.UTF8.GetBytes("Dune");

    private static CairnMemcachedCache Open(params string[] servers)
    {
        var options = new CairnMemcachedOptions
        {
            // A busy machine is not a failed server.
            ConnectTimeout = TimeSpan.FromMinutes(1),
            OperationTimeout = TimeSpan.FromMinutes(1),
            ReturnInterval = TimeSpan.FromMilliseconds(100),
            StandInLifetime = TimeSpan.FromMinutes(1), // With 1 second, memcached can expire an entry as soon as it was set.
        };
        foreach (string server in servers)
        {
            options.Servers.Add(server);
        }

        return new CairnMemcachedCache(options);
    }

    [RequiresToolTheory("memcached")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Values_of_all_sizes_and_keys_of_all_kinds_come_back(bool isCairn)
    {
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(isCairn);
        await using CairnMemcachedCache cache = Open(server.Address);
        var random = new Random(7);
        string[] keys = ["plain", "with space", "\u00DCbung\n", new string('k', 300), ""];
        foreach (string key in keys)
        {
            foreach (int size in new[] { 0, 1, 1000, 500_000 })
            {
                byte[] value = new byte[size];
                random.NextBytes(value);

                await cache.SetAsync(key, value, new());

                Assert.Equal(value, await cache.GetAsync(key));
            }

            await cache.RemoveAsync(key);
            Assert.Null(await cache.GetAsync(key));
        }
    }

    [RequiresToolTheory("memcached")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Expirations_are_kept(bool isCairn)
    {
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(isCairn);
        await using CairnMemcachedCache cache = Open(server.Address);

        await cache.SetAsync("short", s_value, new() { AbsoluteExpirationRelativeToNow = TimeSpan.FromMilliseconds(500) });
        await cache.SetAsync("long", s_value, new() { AbsoluteExpirationRelativeToNow = TimeSpan.FromDays(60) });
        await cache.SetAsync("sliding", s_value, new() { SlidingExpiration = TimeSpan.FromSeconds(100) });
        await cache.SetAsync("past", s_value, new());
        await cache.SetAsync("past", s_value, new() { AbsoluteExpiration = DateTimeOffset.UtcNow.AddSeconds(-1) });

        Assert.Equal(s_value, await cache.GetAsync("long"));
        Assert.Equal(s_value, await cache.GetAsync("sliding"));
        Assert.Null(await cache.GetAsync("past"));
        await Eventually.TrueAsync(async () => await cache.GetAsync("short") is null, "the end of the entry");
    }

    [RequiresToolTheory("memcached")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Lease_on_a_missing_key_is_one_owners_and_a_change_ends_it(bool isCairn)
    {
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(isCairn);
        await using CairnMemcachedCache mine = Open(server.Address);
        await using CairnMemcachedCache other = Open(server.Address);

        Assert.Equal(CacheLeaseStatus.Acquired, await AcquireAsync(mine, "me"));
        Assert.Equal(CacheLeaseStatus.Held, await AcquireAsync(other, "you"));
        Assert.Null(await other.GetAsync("key"));
        Assert.True(await ((ICacheLeases)mine).TryRenewAsync("key", "me", s_long, default));
        Assert.Equal(CacheLeaseStatus.Held, await AcquireAsync(other, "you"));
        Assert.Equal(CacheLeaseStatus.Acquired, await ((ICacheLeases)mine).TrySetAsync("key", "me", s_value, new(), default));
        Assert.Equal(s_value, await other.GetAsync("key"));
        Assert.Equal(CacheLeaseStatus.HasValue, await AcquireAsync(other, "you"));

        await other.RemoveAsync("key");
        Assert.Equal(CacheLeaseStatus.Acquired, await AcquireAsync(mine, "again"));
        await other.RemoveAsync("key");
        Assert.Equal(CacheLeaseStatus.Held, await ((ICacheLeases)mine).TrySetAsync("key", "again", s_value, new(), default));
        Assert.Null(await other.GetAsync("key"));

        Assert.Equal(CacheLeaseStatus.Acquired, await AcquireAsync(mine, "back"));
        await ((ICacheLeases)mine).ReleaseAsync("key", "back", default);
        Assert.Equal(CacheLeaseStatus.Acquired, await AcquireAsync(other, "you"));
    }

    [RequiresToolTheory("memcached")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Lease_on_a_key_with_a_value_leaves_it_readable(bool isCairn)
    {
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(isCairn);
        await using CairnMemcachedCache mine = Open(server.Address);
        await using CairnMemcachedCache other = Open(server.Address);
        await mine.SetAsync("key", s_value, new());

        Assert.Equal(CacheLeaseStatus.Acquired, await AcquireAsync(mine, "me", onlyIfMissing: false));
        Assert.Equal(CacheLeaseStatus.Held, await AcquireAsync(other, "you", onlyIfMissing: false));
        Assert.Equal(s_value, await other.GetAsync("key"));
        Assert.True(await ((ICacheLeases)mine).TryRenewAsync("key", "me", s_long, default));
        await ((ICacheLeases)mine).ReleaseAsync("key", "me", default);
        Assert.Equal(s_value, await other.GetAsync("key"));
        Assert.Equal(CacheLeaseStatus.Acquired, await AcquireAsync(other, "you", onlyIfMissing: false));
        await mine.SetAsync("key", Encoding.UTF8.GetBytes("Emma"), new());
        Assert.Equal(CacheLeaseStatus.Held, await ((ICacheLeases)other).TrySetAsync("key", "you", s_value, new(), default));
        Assert.Equal("Emma", Encoding.UTF8.GetString((await other.GetAsync("key"))!));
    }

    [RequiresToolTheory("memcached")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Hybrid_cache_removes_the_entries_with_all_tags_on_other_machines(bool isCairn)
    {
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(isCairn);
        await using CairnMemcachedCache mine = Open(server.Address);
        await using CairnMemcachedCache others = Open(server.Address);
        await using CairnHybridCache here = Patient(mine);
        await here.SetAsync("both", "set", tags: ["a", "b"]);
        await here.SetAsync("first", "set", tags: ["a"]);
        await here.SetAsync("second", "set", tags: ["b"]);

        await here.RemoveByTagAsync(["a", "b"], TagMatch.All);

        await using CairnHybridCache there = Patient(others);
        Assert.False((await there.GetAsync<string>("both")).IsFound);

        // The read of a stamp extends its life. On Cairn's server this creates a new version, which ends the lease.
        Assert.Equal(isCairn ? null : "set", (await there.GetAsync<string>("first")).Value);
        Assert.Equal("set", (await there.GetAsync<string>("second")).Value);
    }

    [RequiresToolTheory("memcached")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Lease_that_is_ended_is_free_and_its_owner_cannot_use_it(bool isCairn)
    {
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(isCairn);
        await using CairnMemcachedCache cache = Open(server.Address);
        ICacheLeases leases = cache;

        await leases.EndAsync("key", default); // There is none.
        Assert.Equal(CacheLeaseStatus.Acquired, await AcquireAsync(cache, "me"));
        await leases.EndAsync("key", default);

        Assert.Equal(CacheLeaseStatus.Acquired, await AcquireAsync(cache, "you"));
        Assert.Equal(CacheLeaseStatus.Held, await leases.TrySetAsync("key", "me", s_value, new(), default));
        Assert.False(await leases.TryRenewAsync("key", "never", s_long, default));
        await cache.SetAsync("key", s_value, new());
        await leases.EndAsync("key", default);
        Assert.Equal(s_value, await cache.GetAsync("key"));
    }

    [RequiresToolFact("memcached")]
    public async Task Members_that_block_do_the_same_as_the_others()
    {
#pragma warning disable CA1849, VSTHRD103 // They are the subject.
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(isCairn: false);
        using CairnMemcachedCache cache = Open(server.Address);
        var buffer = new System.Buffers.ArrayBufferWriter<byte>();

        cache.Set("key", s_value, new DistributedCacheEntryOptions());
        cache.Refresh("key");
        Assert.Equal(s_value, cache.Get("key"));
        cache.Set("key", new System.Buffers.ReadOnlySequence<byte>(s_value, 0, 2), new DistributedCacheEntryOptions());
        Assert.True(cache.TryGet("key", buffer));
        Assert.Equal("Du"u8, buffer.WrittenSpan);
        cache.Remove("key");
        Assert.Null(cache.Get("key"));
#pragma warning restore CA1849, VSTHRD103
    }

    [RequiresToolFact("memcached")]
    public async Task Registered_cache_works_and_a_server_that_is_not_reached_is_named()
    {
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(isCairn: false);
        await using ServiceProvider services = new ServiceCollection().AddCairnMemcached(server.Address).BuildServiceProvider();
        IDistributedCache cache = services.GetRequiredService<IDistributedCache>();
        await using CairnMemcachedCache lost = Open("127.0.0.1:1");

        await cache.SetAsync("key", s_value);

        Assert.Equal(s_value, await services.GetRequiredService<CairnMemcachedCache>().GetAsync("key"));
        Assert.Contains("127.0.0.1:1", (await Assert.ThrowsAsync<MemcachedException>(() => lost.GetAsync("key"))).Message, StringComparison.Ordinal);
    }

    [RequiresToolFact("memcached")]
    public async Task Dead_server_is_ejected_and_returns_without_old_values()
    {
        using var first = MemcachedProcess.Start();
        using var second = MemcachedProcess.Start();
        using var third = MemcachedProcess.Start();
        await using CairnMemcachedCache cache = Open(first.Address, second.Address, third.Address);
        string[] keys = [.. Enumerable.Range(0, 200).Select(i => $"key:{i}")];
        foreach (string key in keys)
        {
            await cache.SetAsync(key, Encoding.UTF8.GetBytes(key), new());
        }

        second.Kill();
        await Eventually.TrueAsync(
            async () =>
            {
                foreach (string key in keys)
                {
                    await TryAsync(() => cache.GetAsync(key));
                }

                return cache.EjectedServers.Count == 1;
            },
            "the ejection");
        int found = 0;
        foreach (string key in keys)
        {
            byte[]? value = await cache.GetAsync(key);
            found += value is null ? 0 : 1;
            Assert.True(value is null || Encoding.UTF8.GetString(value) == key);
            await cache.SetAsync(key, Encoding.UTF8.GetBytes("new " + key), new());
            Assert.Equal("new " + key, Encoding.UTF8.GetString((await cache.GetAsync(key))!));
        }

        Assert.InRange(found, 80, 190); // Two of the three servers have kept their entries.

        second.Run();
        await Eventually.TrueAsync(() => cache.EjectedServers.Count == 0, "the return");
        int foundAgain = 0;
        foreach (string key in keys)
        {
            byte[]? value = await cache.GetAsync(key);
            foundAgain += value is null ? 0 : 1;
            Assert.True(value is null || Encoding.UTF8.GetString(value) == "new " + key);
        }

        Assert.Equal(found, foundAgain);
    }

    [RequiresToolFact("memcached")]
    public async Task Right_password_has_access_and_a_missing_one_is_reported()
    {
        using var directory = new TestDirectory();
        await File.WriteAllTextAsync(directory["users"], "shop:secret\n");
        using var server = MemcachedProcess.Start("-Y", directory["users"]);
        await using var cache = new CairnMemcachedCache(new CairnMemcachedOptions { Servers = { server.Address }, User = "shop", Password = "secret" });
        await using CairnMemcachedCache stranger = Open(server.Address);

        await cache.SetAsync("key", s_value, new());

        Assert.Equal(s_value, await cache.GetAsync("key"));
        var refused = await Assert.ThrowsAsync<MemcachedException>(() => stranger.GetAsync("key"));
        Assert.Contains("user and password", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Ring_gives_each_server_its_share_and_moves_only_the_keys_of_one_that_left()
    {
        IPEndPoint[] places = [.. Enumerable.Range(0, 3).Select(i => new IPEndPoint(IPAddress.Loopback, 11211 + i))];
        var ring = new KetamaRing(places);
        int[] counts = new int[3];
        for (int i = 0; i < 10_000; i++)
        {
            byte[] key = Encoding.ASCII.GetBytes(i.ToString(CultureInfo.InvariantCulture));
            int server = ring.ServerOf(key, _ => true, out int owner);
            int without = ring.ServerOf(key, at => at != 1, out int sameOwner);
            counts[server]++;

            Assert.Equal(owner, server);
            Assert.Equal(owner, sameOwner);
            Assert.Equal(server == 1, without != server);
        }

        Assert.All(counts, count => Assert.InRange(count, 2_300, 4_400));
        Assert.Equal(-1, ring.ServerOf("key"u8, _ => false, out _));
    }

    [Fact]
    public void Options_that_make_no_sense_are_refused()
    {
        Assert.Throws<InvalidOperationException>(() => new CairnMemcachedCache(new CairnMemcachedOptions()));
        Assert.Throws<InvalidOperationException>(() => Open("a:1", "a:1"));
        Assert.Throws<FormatException>(() => Open("a:99999"));
        Assert.Throws<InvalidOperationException>(() => new CairnMemcachedCache(new CairnMemcachedOptions { Servers = { "a" }, User = "x" }));
        Assert.Throws<InvalidOperationException>(
            () => new CairnMemcachedCache(new CairnMemcachedOptions { Servers = { "a" }, FailuresBeforeEjection = 0 }));
    }

    // Waits for the server as long as a busy machine needs.
    private static CairnHybridCache Patient(IDistributedCache second) => CairnHybridCache.Create(
        new CairnHybridCacheOptions { DistributedCache = second, DistributedReadTimeout = s_long, DistributedWriteTimeout = s_long });

    private static ValueTask<CacheLeaseStatus> AcquireAsync(ICacheLeases cache, string owner, bool onlyIfMissing = true) =>
        cache.TryAcquireAsync("key", owner, s_long, onlyIfMissing, default);

    private static async Task TryAsync(Func<Task> call)
    {
        try
        {
            await call();
        }
        catch (MemcachedException)
        {
            // The server has ended.
        }
    }

    /// <summary>A stock memcached, or Cairn's server.</summary>
    private sealed class ServerUnderTest : IAsyncDisposable
    {
        private MemcachedProcess? _process;
        private ServedStore? _store;

        public string Address => _process?.Address ?? _store!.Memcached;

        public static async Task<ServerUnderTest> StartAsync(bool isCairn) => isCairn
            ? new ServerUnderTest { _store = await ServedStore.StartAsync() }
            : new ServerUnderTest { _process = MemcachedProcess.Start() };

        public async ValueTask DisposeAsync()
        {
            _process?.Dispose();
            if (_store is not null)
            {
                await _store.DisposeAsync();
            }
        }
    }
}
