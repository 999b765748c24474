using System.Buffers;
using System.Globalization;
using System.Text;
using Cairn.Redis.Tests.Servers;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Redis.Tests.Caching;

/// <summary>The layout over the client of Cairn.Redis.</summary>
public sealed class LayoutOverOwnClientTests() : LayoutTests(ServerKind.Redis);

/// <summary>The layout over a multiplexer of StackExchange.Redis.</summary>
public sealed class LayoutOverMultiplexerTests() : LayoutTests(ServerKind.Multiplexer);

/// <summary>
/// Entries have the layout of Microsoft's RedisCache: hashes with absexp, sldexp and data. Here redis-cli reads and writes them.
/// </summary>
public abstract class LayoutTests(ServerKind kind)
{
    private static readonly byte[] s_dune = Encoding.UTF8.GetBytes("Dune");

    private static CairnRedisCache Open(SharedServer server) => new(server.Options());

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Entry_that_is_set_is_a_hash_with_the_three_fields()
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cache = Open(server);

        await cache.SetAsync("book", s_dune, new DistributedCacheEntryOptions());

        Assert.Equal("absexp\n-1\nsldexp\n-1\ndata\nDune", server.Redis!.Cli("HGETALL", "shop:book"));
        Assert.Equal("-1", server.Redis!.Cli("TTL", "shop:book"));
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Expirations_are_written_in_ticks_and_kept_by_the_server()
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cache = Open(server);
        DateTimeOffset moment = DateTimeOffset.UtcNow.AddMinutes(10);

        await cache.SetAsync("absolute", s_dune, new() { AbsoluteExpiration = moment });
        await cache.SetAsync("relative", s_dune, new() { AbsoluteExpirationRelativeToNow = TimeSpan.FromMinutes(10) });
        await cache.SetAsync("sliding", s_dune, new() { SlidingExpiration = TimeSpan.FromMinutes(2) });
        await cache.SetAsync("both", s_dune, new() { SlidingExpiration = TimeSpan.FromMinutes(20), AbsoluteExpiration = moment });

        Assert.Equal(moment.UtcTicks.ToString(CultureInfo.InvariantCulture), server.Redis!.Cli("HGET", "shop:absolute", "absexp"));
        Assert.InRange(long.Parse(server.Redis!.Cli("HGET", "shop:relative", "absexp"), CultureInfo.InvariantCulture), moment.UtcTicks, moment.AddMinutes(1).UtcTicks);
        Assert.Equal("1200000000", server.Redis!.Cli("HGET", "shop:sliding", "sldexp"));
        Assert.InRange(int.Parse(server.Redis!.Cli("TTL", "shop:absolute"), CultureInfo.InvariantCulture), 550, 600);
        Assert.InRange(int.Parse(server.Redis!.Cli("TTL", "shop:relative"), CultureInfo.InvariantCulture), 550, 600);
        Assert.InRange(int.Parse(server.Redis!.Cli("TTL", "shop:sliding"), CultureInfo.InvariantCulture), 100, 120);
        Assert.InRange(int.Parse(server.Redis!.Cli("TTL", "shop:both"), CultureInfo.InvariantCulture), 550, 600);
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Entry_that_others_wrote_is_read()
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cache = Open(server);
        server.Redis!.Cli("HSET", "shop:book", "absexp", "-1", "sldexp", "-1", "data", "Emma");
        server.Redis!.Cli("HSET", "shop:half", "absexp", "-1");
        var buffer = new ArrayBufferWriter<byte>();

        Assert.Equal("Emma", Encoding.UTF8.GetString((await cache.GetAsync("book"))!));
        Assert.True(await cache.TryGetAsync("book", buffer));
        Assert.Equal("Emma", Encoding.UTF8.GetString(buffer.WrittenSpan));
        Assert.Null(await cache.GetAsync("half"));
        Assert.False(await cache.TryGetAsync("none", buffer));
        Assert.Equal(4, buffer.WrittenCount);
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Use_extends_a_sliding_expiration_but_not_beyond_the_absolute_one()
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cache = Open(server);
        long end = DateTimeOffset.UtcNow.AddMinutes(5).UtcTicks;
        server.Redis!.Cli("HSET", "shop:a", "absexp", "-1", "sldexp", "6000000000", "data", "x");
        server.Redis!.Cli("HSET", "shop:b", "absexp", end.ToString(CultureInfo.InvariantCulture), "sldexp", "6000000000", "data", "x");
        server.Redis!.Cli("EXPIRE", "shop:a", "30");
        server.Redis!.Cli("EXPIRE", "shop:b", "30");

        await cache.GetAsync("a");
        await cache.RefreshAsync("b");

        Assert.InRange(int.Parse(server.Redis!.Cli("TTL", "shop:a"), CultureInfo.InvariantCulture), 590, 600);
        Assert.InRange(int.Parse(server.Redis!.Cli("TTL", "shop:b"), CultureInfo.InvariantCulture), 280, 300);
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Setting_again_replaces_value_and_expiration()
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cache = Open(server);
        await cache.SetAsync("book", s_dune, new() { SlidingExpiration = TimeSpan.FromMinutes(2) });

        await cache.SetAsync("book", Encoding.UTF8.GetBytes("Emma"), new());

        Assert.Equal("absexp\n-1\nsldexp\n-1\ndata\nEmma", server.Redis!.Cli("HGETALL", "shop:book"));
        Assert.Equal("-1", server.Redis!.Cli("TTL", "shop:book"));
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Setting_with_a_moment_that_has_passed_removes()
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cache = Open(server);
        await cache.SetAsync("book", s_dune, new());

        await cache.SetAsync("book", s_dune, new() { AbsoluteExpiration = DateTimeOffset.UtcNow.AddSeconds(-1) });

        Assert.Equal("0", server.Redis!.Cli("EXISTS", "shop:book"));
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Methods_that_wait_do_the_same()
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);

        await OwnThread.Run(() => UseMethodsThatWait(server));
    }

    private static void UseMethodsThatWait(SharedServer server)
    {
        using CairnRedisCache cache = Open(server);
        var buffer = new ArrayBufferWriter<byte>();

        cache.Set("book", s_dune, new());
        cache.Set("pieces", Pieces("Du", "ne"), new());
        cache.Refresh("book");

        Assert.Equal(s_dune, cache.Get("book"));
        Assert.True(cache.TryGet("pieces", buffer));
        Assert.Equal(s_dune, buffer.WrittenSpan);
        cache.Remove("book");
        Assert.Null(cache.Get("book"));
    }

    private static ReadOnlySequence<byte> Pieces(string first, string second)
    {
        var start = new Piece(Encoding.UTF8.GetBytes(first), 0);
        Piece end = start.Append(Encoding.UTF8.GetBytes(second));
        return new ReadOnlySequence<byte>(start, 0, end, end.Memory.Length);
    }

    private sealed class Piece : ReadOnlySequenceSegment<byte>
    {
        public Piece(byte[] bytes, long index)
        {
            Memory = bytes;
            RunningIndex = index;
        }

        public Piece Append(byte[] bytes)
        {
            var next = new Piece(bytes, RunningIndex + Memory.Length);
            Next = next;
            return next;
        }
    }
}
