using System.Globalization;
using System.Text.Json;
using Cairn.Caching;
using Cairn.Cli.Tests.Servers;
using Cairn.Redis;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Cli.Tests;

/// <summary>cairn get, bigkeys and stats for a server.</summary>
public sealed class ServerEntryTests : ToolTest
{
    private static readonly string[] s_tags = ["books", "new"];

    [RequiresToolTheory("redis-server")]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Entry_of_a_hybrid_cache_is_printed_as_its_json(bool isRedis)
    {
        using TestedServer server = TestedServer.Start(isRedis);
        var pages = Enumerable.Range(0, 200).Select(page => $"page {page} of a book that is long enough to be compressed").ToArray();
        await server.FillAsync(async cache =>
        {
            await cache.SetAsync("book:42", new { Title = "Dune", Year = 1965 }, new CairnEntryOptions { Expiration = TimeSpan.FromMinutes(5) }, s_tags);
            await cache.SetAsync("pages", pages);
            await cache.SetAsync("text", "Dune");
            await cache.SetAsync<string?>("nothing", null);
        });

        ToolRun book = Run("get", server.Url, "shop:library:k:book:42");
        ToolRun bookJson = Run("get", server.Url, "shop:library:k:book:42", "--json");
        ToolRun raw = Run("get", server.Url, "shop:library:k:book:42", "--raw");
        ToolRun compressed = Run("get", server.Url, "shop:library:k:pages");
        ToolRun text = Run("get", server.Url, "shop:library:k:text");
        ToolRun nothing = Run("get", server.Url, "shop:library:k:nothing", "--json");
        ToolRun missing = Run("get", server.Url, "shop:library:k:missing");

        Assert.Equal((0, """{"Title":"Dune","Year":1965}""", ""), (book.Code, book.Output, book.Error));
        JsonElement entry = bookJson.Json.GetProperty("entry");
        Assert.Equal("json", entry.GetProperty("format").GetString());
        Assert.Equal(s_tags, entry.GetProperty("tags").EnumerateArray().Select(tag => tag.GetString()));
        TimeSpan life = Moment(entry, "freshUntil") - Moment(entry, "created");
        Assert.InRange(life, TimeSpan.FromSeconds(299), TimeSpan.FromSeconds(301)); // Two clocks, one of them coarse.
        Assert.InRange(Moment(bookJson.Json, "expires") - Clock.GetUtcNow(), TimeSpan.FromMinutes(4), TimeSpan.FromMinutes(5));
        Assert.Equal("""{"Title":"Dune","Year":1965}""", bookJson.Json.GetProperty("value").GetString());
        Assert.Equal(0xFE, raw.Bytes[8]);
        Assert.Equal(pages, JsonSerializer.Deserialize<string[]>(compressed.Output));
        Assert.Equal("Dune", text.Output);
        Assert.True(nothing.Json.GetProperty("entry").GetProperty("isNull").GetBoolean());
        Assert.Equal((1, ""), (missing.Code, missing.Output));
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Plain_value_is_printed_with_the_data_of_its_second_key_and_counts_as_one_entry(bool isRedis)
    {
        using TestedServer server = TestedServer.Start(isRedis);
        string pages = string.Concat(Enumerable.Repeat("page ", 2000));
        await server.FillAsync(
            async cache =>
            {
                await cache.SetAsync("book:42", new { Title = "Dune" }, new CairnEntryOptions { Expiration = TimeSpan.FromMinutes(5) }, s_tags);
                await cache.SetAsync("book}43", pages, new CairnEntryOptions { SlidingExpiration = TimeSpan.FromMinutes(2), Expiration = TimeSpan.FromHours(1) });
                await cache.SetAsync("book:44", "Emma");
                await cache.SetAsync<string?>("nothing", null);
            },
            isPlain: true);
        await using RedisClient client = RedisClient.Create(server.Address);
        await client.SetAsync("shop:library:k:book:44", "a value of another program"u8.ToArray());

        ToolRun book = Run("get", server.Url, "shop:library:k:book:42");
        ToolRun bookJson = Run("get", server.Url, "shop:library:k:book:42", "--json");
        ToolRun brace = Run("get", server.Url, "shop:library:k:book}43", "--json");
        ToolRun other = Run("get", server.Url, "shop:library:k:book:44");
        ToolRun raw = Run("get", server.Url, "shop:library:k:book:44", "--raw");
        ToolRun nothing = Run("get", server.Url, "shop:library:k:nothing", "--json");
        ToolRun keys = Run("bigkeys", server.Url, "--json");
        ToolRun table = Run("bigkeys", server.Url);

        Assert.Equal((0, """{"Title":"Dune"}""", ""), (book.Code, book.Output, book.Error));
        JsonElement entry = bookJson.Json.GetProperty("entry");
        Assert.Equal("json", entry.GetProperty("format").GetString());
        Assert.Equal(s_tags, entry.GetProperty("tags").EnumerateArray().Select(tag => tag.GetString()));
        Assert.InRange(Moment(entry, "freshUntil") - Moment(entry, "created"), TimeSpan.FromSeconds(299), TimeSpan.FromSeconds(301));
        Assert.Equal("""{"Title":"Dune"}""", bookJson.Json.GetProperty("value").GetString());
        Assert.Equal(120_000, brace.Json.GetProperty("entry").GetProperty("slidingMs").GetInt64());
        Assert.Equal(pages, brace.Json.GetProperty("value").GetString());
        Assert.Equal(6, other.Code);
        Assert.Contains("another program wrote the value; --raw prints it", other.Error, StringComparison.Ordinal);
        Assert.Equal("a value of another program", raw.Output);
        Assert.True(nothing.Json.GetProperty("entry").GetProperty("isNull").GetBoolean());

        string?[] listed = [.. keys.Json.GetProperty("biggest").EnumerateArray().Select(key => key.GetProperty("key").GetString())];
        Assert.Equal("shop:library:k:book}43", listed[0]);
        Assert.Equal(
            ["shop:library:k:book:42", "shop:library:k:book:44", "shop:library:k:book}43", "shop:library:k:nothing"],
            listed.Where(key => key!.Contains(":k:", StringComparison.Ordinal)).Order(StringComparer.Ordinal));
        Assert.DoesNotContain(listed, key => key!.StartsWith("cairn-head:", StringComparison.Ordinal));
        Assert.Equal(listed.Length, keys.Json.GetProperty("keys").GetInt64());
        Assert.Equal(listed.Length, keys.Json.GetProperty("headKeys").GetInt64());
        Assert.Contains("and 7 second keys of entries (cairn-head:) take", table.Lines[^1], StringComparison.Ordinal);
        JsonElement first = keys.Json.GetProperty("biggest")[0];
        long own = (await client.ExecuteAsync(["MEMORY", "USAGE", "shop:library:k:book}43"])).Integer;
        Assert.InRange(first.GetProperty("memoryBytes").GetInt64(), own + 90, own + 300);
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Strings_and_entries_of_distributed_caches_are_printed_and_other_types_are_named(bool isRedis)
    {
        using TestedServer server = TestedServer.Start(isRedis);
        await using (RedisClient client = RedisClient.Create(server.Address))
        {
            await client.SetAsync("plain", "Dune"u8.ToArray());
            await client.ExecuteAsync(["HSET", "other", "field", "value"]);
        }

        await using (var cache = new CairnRedisCache(new CairnRedisOptions { Configuration = server.Address }))
        {
            await cache.SetAsync("entry", "Messiah"u8.ToArray(), new DistributedCacheEntryOptions());
        }

        Assert.Equal("Dune", Run("get", server.Url, "plain").Output);
        Assert.Equal("Messiah", Run("get", server.Url, "entry").Output);
        ToolRun other = Run("get", server.Url, "other");
        Assert.Equal(6, other.Code);
        Assert.Contains("a hash without the field 'data'", other.Error, StringComparison.Ordinal);
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Keys_that_take_most_memory_are_listed_and_the_figures_of_the_server_printed(bool isRedis)
    {
        using TestedServer server = TestedServer.Start(isRedis);
        await using (RedisClient client = RedisClient.Create(server.Address))
        {
            for (int i = 0; i < 1200; i++)
            {
                await client.SetAsync($"key:{i}", new byte[i == 700 ? 100_000 : 10]);
            }
        }

        ToolRun keys = Run("bigkeys", server.Url, "--count", "2", "--json");
        ToolRun table = Run("bigkeys", server.Url);
        ToolRun figures = Run("stats", server.Url, "--json");
        ToolRun text = Run("stats", server.Address);

        Assert.Equal((0, ""), (keys.Code, keys.Error));
        JsonElement[] biggest = [.. keys.Json.GetProperty("biggest").EnumerateArray()];
        Assert.Equal(2, biggest.Length);
        Assert.Equal("key:700", biggest[0].GetProperty("key").GetString());
        Assert.InRange(biggest[0].GetProperty("memoryBytes").GetInt64(), 100_000, 200_000);
        Assert.Equal(1200, keys.Json.GetProperty("keys").GetInt64());
        Assert.Contains("1,200 keys take", table.Lines[^1], StringComparison.Ordinal);
        Assert.Equal(1200, figures.Json.GetProperty("items").GetInt64());
        Assert.Equal(1200, figures.Json.GetProperty("commands").GetProperty("set").GetInt64());
        Assert.Contains("1,200", text.Lines.Single(line => line.StartsWith("set", StringComparison.Ordinal)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("'one' is no address", "get", "one", "two")]
    [InlineData("give --user", "get", "redis://me:secret@localhost", "key")]
    [InlineData("database 0", "get", "redis://localhost/3", "key")]
    [InlineData("exclude each other", "get", "redis://localhost", "key", "--store", "books.cairn")]
    [InlineData("exclude each other", "stats", "6379", "--store", "books.cairn")]
    [InlineData("are for stores", "stats", "6379", "--sizes")]
    [InlineData("one key space", "get", "redis://localhost", "key", "--collection", "books")]
    public void Mistakes_are_reported(string expected, params string[] words)
    {
        ToolRun run = Run(words);

        Assert.Equal(2, run.Code);
        Assert.Contains(expected, run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Server_of_memcacheds_protocol_cannot_list_keys()
    {
        using var server = new ScriptedServer(line => line == "version" ? "VERSION 1.2.3\r\n" : "ERROR\r\n");

        ToolRun run = Run("bigkeys", server.Address);

        Assert.Equal(6, run.Code);
        Assert.Contains("cannot list keys", run.Error, StringComparison.Ordinal);
    }

    /// <summary>A redis-server or Cairn's own server, empty.</summary>
    private sealed class TestedServer(IDisposable program, string url, string address) : IDisposable
    {
        public string Url => url;

        public string Address => address;

        public static TestedServer Start(bool isRedis)
        {
            if (!isRedis)
            {
                var store = new ServedStore();
                return new TestedServer(store, $"redis://{store.Resp}", store.Resp);
            }

            string port = FreePorts.Take().ToString(CultureInfo.InvariantCulture);
            PeerProcess redis = PeerProcess.Redis("--port", port, "--bind", "127.0.0.1");
            return new TestedServer(redis, redis.Address, $"127.0.0.1:{port}");
        }

        /// <summary>Uses a hybrid cache with the name "library" over the server.</summary>
        public async Task FillAsync(Func<CairnHybridCache, Task> fill, bool isPlain = false)
        {
            await using var redis = new CairnRedisCache(new CairnRedisOptions { Configuration = Address, InstanceName = "shop:", PlainValues = isPlain });
            await using CairnHybridCache cache = CairnHybridCache.Create(new CairnHybridCacheOptions
            {
                Name = "library",
                DistributedCache = redis,
                DistributedReadTimeout = TimeSpan.FromSeconds(30), // The first call connects, on a machine that may be busy.
                DistributedWriteTimeout = TimeSpan.FromSeconds(30),
            });
            await fill(cache);
        }

        public void Dispose() => program.Dispose();
    }

    private static DateTimeOffset Moment(JsonElement element, string name) =>
        DateTimeOffset.Parse(element.GetProperty(name).GetString()!, CultureInfo.InvariantCulture);
}
