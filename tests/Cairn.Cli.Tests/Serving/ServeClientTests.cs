using System.Globalization;
using Cairn.Caching;
using Cairn.Redis;

namespace Cairn.Cli.Tests.Serving;

/// <summary>The Redis client against a real server process, which can be killed.</summary>
public sealed class ServeClientTests : IDisposable
{
    private const int Keys = 500;

    // Long, because a busy machine is not a server failure.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private readonly StoreDirectory _directory = new();
    private readonly int _port = FreePorts.Take();

    private string Address => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{_port}");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Acknowledged_writes_of_a_killed_server_are_there_when_it_is_back()
    {
        await using var client = RedisClient.Create(Address);
        using (ToolProcess server = Serve())
        {
            bool[] acknowledged = await Task.WhenAll(Enumerable.Range(0, Keys).Select(key => client.SetAsync($"key:{key}", key).AsTask()));
            Assert.All(acknowledged, Assert.True);
            server.Signal(ToolProcess.Kill);
            server.WaitForExit();
        }

        await Assert.ThrowsAsync<RedisConnectionException>(async () => await client.GetAsync("key:0"));
        using ToolProcess again = Serve();
        await ConnectAsync(client);

        for (int key = 0; key < Keys; key++)
        {
            byte[]? value = await client.GetAsync($"key:{key}");
            Assert.Equal(key.ToString(CultureInfo.InvariantCulture), System.Text.Encoding.ASCII.GetString(value!));
        }
    }

    [Theory]
    [InlineData("")]
    [InlineData(",protocol=resp2")]
    public async Task Caches_of_two_machines_agree_over_a_server(string settings)
    {
        using ToolProcess server = Serve();
        using var first = new CairnRedisCache(new CairnRedisOptions { Configuration = Address + settings });
        using var second = new CairnRedisCache(new CairnRedisOptions { Configuration = Address + settings });
        using var one = Cache(first);
        using var two = Cache(second);
        using var patience = new CancellationTokenSource(s_patience);

        // A write in progress when the channel begins becomes a removal, because another client may have changed the key unnoticed.
        do
        {
            await one.SetAsync("book", "Dune", cancellationToken: patience.Token);
        }
        while (await MakeAsync(two) != "Dune");

        await one.SetAsync("book", "Persuasion");

        string found;
        while ((found = await MakeAsync(two)) == "Dune")
        {
            await Task.Delay(1, patience.Token); // There is no event to wait for.
        }

        Assert.Equal("Persuasion", found);
    }

    private static CairnHybridCache Cache(CairnRedisCache server) => CairnHybridCache.Create(new CairnHybridCacheOptions
    {
        DistributedCache = server,
        DistributedReadTimeout = s_patience,
        DistributedWriteTimeout = s_patience,
    });

    private static ValueTask<string> MakeAsync(CairnHybridCache cache) => cache.GetOrCreateAsync("book", _ => ValueTask.FromResult("Emma"));

    private static async Task ConnectAsync(RedisClient client)
    {
        using var patience = new CancellationTokenSource(s_patience);
        while (true)
        {
            try
            {
                await client.PingAsync(patience.Token);
                return;
            }
            catch (RedisConnectionException)
            {
                await Task.Delay(10, patience.Token); // Between two connection attempts, calls fail at once.
            }
        }
    }

    private ToolProcess Serve()
    {
        ToolProcess server = ToolProcess.Start(
            "serve", "--store", _directory.FilePath, "--capacity", "8MiB", "--memcached", "127.0.0.1:0", "--resp", Address, "--http", "off");
        ServerLines.MemcachedPort(server);
        return server;
    }
}
