using System.Globalization;
using System.Net;
using System.Text;
using Cairn.Caching;
using Cairn.Redis.StackExchange.Multiplexing;
using Cairn.Redis.Tests.Servers;
using Cairn.Redis.Tests.Testing;
using StackExchange.Redis;

namespace Cairn.Redis.Tests.Caching;

/// <summary>A cache over a multiplexer that finds its server by Sentinel, encrypts, and signs in.</summary>
public sealed class SecuredMultiplexerTests
{
    private static readonly byte[] s_value = Encoding.UTF8.GetBytes("Dune");

    [RequiresToolFact("redis-server")]
    public async Task Tls_and_a_user_with_the_rights_of_the_guide_are_enough()
    {
        using var directory = new TestDirectory();
        var authority = new TestAuthority(directory);
        int port = FreePorts.Take();
        using var server = RedisServer.Start(
        [
            "--tls-port", port.ToString(CultureInfo.InvariantCulture), "--tls-cert-file", authority.CertificatePath, "--tls-key-file", authority.KeyPath,
            "--tls-ca-cert-file", authority.AuthorityPath, "--tls-auth-clients", "no", "--user", "default", "off", "--user", "shop", "on", ">secret", .. RightsOfTheGuide(),
        ]);
        await using ConnectionMultiplexer mine = await ConnectAsync(port, "secret", authority);
        await using ConnectionMultiplexer others = await ConnectAsync(port, "secret", authority);

        await AssertSharesAsync(mine, others);
        await Assert.ThrowsAsync<global::StackExchange.Redis.RedisConnectionException>(() => ConnectAsync(port, "wrong", authority));
        var refused = await Assert.ThrowsAsync<global::StackExchange.Redis.RedisServerException>(() => mine.GetDatabase().StringSetAsync("other:key", "value"));
        Assert.Contains("NOPERM", refused.Message, StringComparison.Ordinal);
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Sentinel_names_the_master_and_after_its_end_the_cache_continues_with_the_next_one()
    {
        using var master = RedisServer.Start();
        using var replica = RedisServer.Start("--replicaof", "127.0.0.1", master.Port.ToString(CultureInfo.InvariantCulture));
        await Eventually.TrueAsync(() => replica.Cli("INFO", "replication").Contains("master_link_status:up", StringComparison.Ordinal), "the replica's copy");
        using var directory = new TestDirectory();
        int port = FreePorts.Take();
        string configuration = Path.Combine(directory.Path, "sentinel.conf");
        await File.WriteAllTextAsync(
            configuration,
            string.Create(
                CultureInfo.InvariantCulture,
                $"""
                port {port}
                bind 127.0.0.1
                dir {directory.Path}
                sentinel monitor shop 127.0.0.1 {master.Port} 1
                sentinel down-after-milliseconds shop 60000
                sentinel failover-timeout shop 5000

                """));
        using ServerProgram sentinel = ServerProgram.Start("redis-server", [configuration, "--sentinel"], "+monitor master shop");
        await using ConnectionMultiplexer mine = await TestMultiplexer.ConnectAsync($"127.0.0.1:{port},serviceName=shop");
        await using ConnectionMultiplexer others = await TestMultiplexer.ConnectAsync($"127.0.0.1:{port},serviceName=shop");

        await AssertSharesAsync(mine, others);
        Assert.Equal("Dune", master.Cli("HGET", "shop:book", "data"));
        await Eventually.TrueAsync(() => replica.Cli("HGET", "shop:book", "data") == "Dune", "the replica's copy of the value");
        RedisServer.Cli(port, input: null, "SENTINEL", "SET", "shop", "down-after-milliseconds", "500"); // Not before: a busy machine is not a failed master.
        master.Kill();
        await using CairnRedisCache cache = Over(mine);
        await Eventually.TrueAsync(
            async () =>
            {
                try
                {
                    await cache.SetAsync("later", s_value, new());
                    return replica.Cli("HGET", "shop:later", "data") == "Dune";
                }
                catch (RedisException)
                {
                    return false;
                }
            },
            "the new master");
        Assert.Equal(s_value, await cache.GetAsync("book"));
    }

    // Sets, leases and messages.
    private static async Task AssertSharesAsync(IConnectionMultiplexer mine, IConnectionMultiplexer others)
    {
        await using CairnRedisCache cache = Over(mine);
        await using CairnRedisCache other = Over(others);
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)cache).Subscribe("", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");

        await other.SetAsync("book", s_value, new() { SlidingExpiration = TimeSpan.FromMinutes(1), AbsoluteExpirationRelativeToNow = TimeSpan.FromHours(1) });

        Assert.Equal(s_value, await cache.GetAsync("book"));
        await Eventually.TrueAsync(() => receiver.Keys.Contains("book"), "the message of the change");
        Assert.Equal(CacheLeaseStatus.Acquired, await ((ICacheLeases)cache).TryAcquireAsync("leased", "me", TimeSpan.FromMinutes(1), true, default));
        Assert.Equal(CacheLeaseStatus.Acquired, await ((ICacheLeases)cache).TrySetAsync("leased", "me", s_value, new(), default));
        Assert.Equal(s_value, await other.GetAsync("leased"));
        await other.RemoveAsync("leased");
        Assert.Null(await cache.GetAsync("leased"));
    }

    private static string[] RightsOfTheGuide()
    {
        string guide = File.ReadAllText(RepositoryFile.At("docs", "how-to", "redis-multiplexer.md"));
        string line = guide.Split('\n').Single(text => text.StartsWith("ACL SETUSER shop on >secret ", StringComparison.Ordinal));
        return line["ACL SETUSER shop on >secret ".Length..].Split(' ');
    }

    private static CairnRedisCache Over(IConnectionMultiplexer multiplexer) =>
        new(new CairnRedisOptions { InstanceName = "shop:", OtherAccess = () => new MultiplexerAccess(() => Task.FromResult(multiplexer)) });

    private static Task<ConnectionMultiplexer> ConnectAsync(int port, string password, TestAuthority authority)
    {
        var options = new ConfigurationOptions
        {
            EndPoints = { new DnsEndPoint("localhost", port) }, Ssl = true, User = "shop", Password = password, AbortOnConnectFail = true,
            ConnectTimeout = 60_000, SyncTimeout = 60_000, AsyncTimeout = 60_000,
        };
        options.TrustIssuer(authority.AuthorityPath);
        return ConnectionMultiplexer.ConnectAsync(options);
    }
}
