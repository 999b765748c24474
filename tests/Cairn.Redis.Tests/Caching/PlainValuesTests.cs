using System.Text;
using Cairn.Caching;
using Cairn.Redis.Tests.Servers;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Redis.Tests.Caching;

/// <summary>Entries that other programs read as strings, over both clients and both servers.</summary>
public sealed class PlainValuesTests
{
    private const string Key = "shop:cache:k:book:42";
    private const string HeadKey = "cairn-head:{" + Key + "}";

    private static readonly string s_long = string.Concat(Enumerable.Repeat("The spice must flow. ", 500));

    public static TheoryData<ServerKind> Kinds =>
        [ServerKind.Redis, ServerKind.RedisPublishing, ServerKind.Cairn, ServerKind.Multiplexer, ServerKind.CairnMultiplexer];

    [RequiresToolTheory("redis-server", "redis-cli")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Multiplexer)]
    public async Task Client_of_redis_prints_the_json_of_an_entry_with_tags_and_fail_safe(ServerKind kind)
    {
        await using Machines machines = await Machines.StartAsync(kind);
        var options = new CairnEntryOptions { FailSafe = TimeSpan.FromHours(1) };

        await machines.First.SetAsync("book:42", new Book("Dune", 412), options, ["dune"]);
        await machines.First.GetOrCreateAsync("book:43", _ => new ValueTask<Book>(new Book("Emma", 474)), options, ["emma"]);

        Assert.Equal("""{"Title":"Dune","Pages":412}""", machines.Server.Redis!.Cli("GET", Key));
        Assert.Equal("""{"Title":"Emma","Pages":474}""", machines.Server.Redis!.Cli("GET", "shop:cache:k:book:43"));
    }

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Kinds))]
    public async Task Value_is_not_compressed_and_another_machine_reads_it_with_its_tags(ServerKind kind)
    {
        await using Machines machines = await Machines.StartAsync(kind);

        await machines.First.GetOrCreateAsync("book:42", _ => new ValueTask<string>(s_long), tags: ["dune"]);
        await machines.First.SetAsync("book:43", s_long, tags: ["dune"]);

        Assert.Equal(s_long, await machines.GetTextAsync(Key));
        Assert.Equal(s_long, await machines.GetTextAsync("shop:cache:k:book:43"));
        Assert.Equal(s_long, (await machines.Second.GetAsync<string>("book:42")).Value);

        await machines.Second.RemoveByTagAsync("dune");

        Assert.False((await machines.Second.GetAsync<string>("book:43")).IsFound);
        await Eventually.TrueAsync(async () => !(await machines.First.GetAsync<string>("book:42")).IsFound, "the tag's removal");
        Assert.Equal(s_long, await machines.GetTextAsync(Key)); // Other programs still see a value that the cache counts as removed.
    }

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Kinds))]
    public async Task Fail_safe_and_clearing_work_as_with_an_envelope(ServerKind kind)
    {
        await using Machines machines = await Machines.StartAsync(kind);
        var options = new CairnEntryOptions { Expiration = TimeSpan.FromMilliseconds(1), FailSafe = TimeSpan.FromHours(1) };
        await machines.First.SetAsync("book:42", "Dune", options);
        await Eventually.TrueAsync(async () => !(await machines.First.GetAsync<string>("book:42")).IsFound, "the expiration");

        string stale = await machines.Second.GetOrCreateAsync<string>("book:42", _ => throw new TimeoutException("away"), options);
        await machines.First.RemoveByTagAsync("*");

        Assert.Equal("Dune", stale);
        await Eventually.TrueAsync(
            async () =>
            {
                try
                {
                    await machines.Second.GetOrCreateAsync<string>("book:42", _ => throw new TimeoutException("away"), options);
                    return false;
                }
                catch (TimeoutException)
                {
                    return true;
                }
            },
            "the clearing");
    }

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Kinds))]
    public async Task String_that_another_program_wrote_counts_as_missing(ServerKind kind)
    {
        await using Machines machines = await Machines.StartAsync(kind);
        await machines.First.SetAsync("book:42", "Dune");
        await machines.First.SetAsync("book:43", "Dune");
        await machines.First.SetAsync("book:44", "Dune");

        await machines.Client.ExecuteAsync(["SET", Key, "Emma"]);
        await machines.Client.ExecuteAsync(["SET", "shop:cache:k:book:new", "a value of another program"]);
        await machines.Client.ExecuteAsync(["UNLINK", "cairn-head:{shop:cache:k:book:43}"]);
        await machines.Client.ExecuteAsync(["UNLINK", "shop:cache:k:book:44"]);

        foreach (string key in new[] { "book:42", "book:43", "book:44", "book:new" })
        {
            Assert.Equal("made", await machines.Second.GetOrCreateAsync(key, _ => new ValueTask<string>("made")));
            Assert.Equal("made", await machines.GetTextAsync("shop:cache:k:" + key));
        }
    }

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Kinds))]
    public async Task Entry_of_the_other_layout_counts_as_missing_and_is_replaced(ServerKind kind)
    {
        await using Machines machines = await Machines.StartAsync(kind);
        await machines.Client.ExecuteAsync(["HSET", Key, "absexp", "-1", "sldexp", "-1", "data", "Dune"]);

        Assert.Equal("made", await machines.First.GetOrCreateAsync("book:42", _ => new ValueTask<string>("made")));

        Assert.Equal("made", await machines.GetTextAsync(Key));
    }

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Kinds))]
    public async Task Both_keys_of_an_entry_expire_and_are_removed_together(ServerKind kind)
    {
        await using Machines machines = await Machines.StartAsync(kind);
        var sliding = new CairnEntryOptions { SlidingExpiration = TimeSpan.FromMinutes(20), Expiration = TimeSpan.FromHours(2) };
        await machines.First.SetAsync("book:42", "Dune", sliding);
        Assert.InRange(await machines.LifeSecondsAsync(HeadKey), 1100, 1200);
        await machines.Client.ExecuteAsync(["EXPIRE", Key, "30"]);
        await machines.Client.ExecuteAsync(["EXPIRE", HeadKey, "30"]);

        await machines.FirstRedis.RefreshAsync("cache:k:book:42");
        Assert.InRange(await machines.LifeSecondsAsync(Key), 1100, 1200);
        Assert.InRange(await machines.LifeSecondsAsync(HeadKey), 1100, 1200);

        await machines.First.RemoveAsync("book:42");
        Assert.Equal(0, (await machines.Client.ExecuteAsync(["EXISTS", Key, HeadKey])).Integer);
    }

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Kinds))]
    public async Task Value_of_a_distributed_cache_is_the_string_alone_and_other_programs_can_write_it(ServerKind kind)
    {
        await using Machines machines = await Machines.StartAsync(kind);
        CairnRedisCache cache = machines.FirstRedis;
        await cache.SetAsync("plain", "Dune"u8.ToArray(), new() { SlidingExpiration = TimeSpan.FromMinutes(20) });

        await cache.SetAsync("plain", "Emma"u8.ToArray(), new() { AbsoluteExpirationRelativeToNow = TimeSpan.FromMinutes(10) });

        Assert.Equal("Emma", await machines.GetTextAsync("shop:plain"));
        Assert.InRange(await machines.LifeSecondsAsync("shop:plain"), 500, 600);
        Assert.Equal(0, (await machines.Client.ExecuteAsync(["EXISTS", "cairn-head:{shop:plain}"])).Integer);
        await machines.Client.ExecuteAsync(["SET", "shop:plain", "Persuasion"]);
        Assert.Equal("Persuasion", Encoding.UTF8.GetString((await cache.GetAsync("plain"))!));
        Assert.Null(await cache.GetAsync("none"));
    }

    [RequiresToolFact("redis-server")]
    public async Task Number_is_text_if_the_options_choose_json_and_null_is_an_empty_string()
    {
        await using Machines machines = await Machines.StartAsync(ServerKind.Redis);
        var options = new CairnHybridCacheOptions { DistributedCache = machines.FirstRedis, Name = "json" };
        options.Formats[typeof(int)] = CairnFormat.Json;
        await using var cache = CairnHybridCache.Create(options);

        await cache.SetAsync("number", 42);
        await cache.SetAsync<string?>("null", null);

        Assert.Equal("42", await machines.GetTextAsync("shop:json:k:number"));
        Assert.Equal("", await machines.GetTextAsync("shop:json:k:null"));
        Assert.Equal(42, (await cache.GetAsync<int>("number")).Value);
    }

    [RequiresToolFact("redis-server")]
    public async Task Heads_are_no_keys_of_the_cache()
    {
        await using SharedServer server = await SharedServer.StartAsync(ServerKind.Redis);
        CairnRedisOptions options = server.Options(instanceName: "");
        options.PlainValues = true;
        await using var cache = new CairnRedisCache(options);
        await cache.SetAsync("book", "Dune"u8.ToArray(), new() { SlidingExpiration = TimeSpan.FromMinutes(20) });

        var keys = new List<string>();
        await foreach (string key in ((ICacheKeys)cache).ListKeysAsync(default))
        {
            keys.Add(key);
        }

        Assert.Equal(["book"], keys);
    }

    private sealed record Book(string Title, int Pages);

    // Two hybrid caches, as on two machines, and a client that plays another program.
    private sealed class Machines : IAsyncDisposable
    {
        private readonly CairnRedisCache _secondRedis;

        private Machines(SharedServer server)
        {
            Server = server;
            FirstRedis = Open();
            _secondRedis = Open();
            First = Over(FirstRedis);
            Second = Over(_secondRedis);
            Client = RedisClient.Create(server.Address);
        }

        public SharedServer Server { get; }

        public CairnRedisCache FirstRedis { get; }

        public CairnHybridCache First { get; }

        public CairnHybridCache Second { get; }

        public RedisClient Client { get; }

        public static async Task<Machines> StartAsync(ServerKind kind) => new(await SharedServer.StartAsync(kind));

        public async Task<string?> GetTextAsync(string key) => (await Client.ExecuteAsync(["GET", key])).Text;

        public async Task<long> LifeSecondsAsync(string key) => (await Client.ExecuteAsync(["TTL", key])).Integer;

        public async ValueTask DisposeAsync()
        {
            await First.DisposeAsync();
            await Second.DisposeAsync();
            await FirstRedis.DisposeAsync();
            await _secondRedis.DisposeAsync();
            await Client.DisposeAsync();
            await Server.DisposeAsync();
        }

        // The time-outs are longer than a slow machine takes to connect.
        private static CairnHybridCache Over(CairnRedisCache redis) => CairnHybridCache.Create(new CairnHybridCacheOptions
        {
            DistributedCache = redis,
            DistributedReadTimeout = TimeSpan.FromMinutes(1),
            DistributedWriteTimeout = TimeSpan.FromMinutes(1),
        });

        private CairnRedisCache Open()
        {
            CairnRedisOptions options = Server.Options();
            options.PlainValues = true;
            return new CairnRedisCache(options);
        }
    }
}
