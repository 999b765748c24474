using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Text;
using Cairn.Server.Resp.Commands;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Resp;

/// <summary>INFO and DBSIZE report expiring keys as Redis does after the same requests.</summary>
public sealed class ExpirationStatisticsTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    [RequiresToolFact("redis-server")]
    public async Task Expired_keys_are_removed_without_a_read_and_counted_as_by_redis()
    {
        using var redis = RedisProcess.Start();
        await using StoreServer cairn = await StoreServer.StartAsync();
        var script = new StringBuilder("CONFIG RESETSTAT\r\nSET stays 1\r\nSET later 1 EX 1000\r\nHSET hash f 1\r\nPEXPIRE hash 1500\r\nHSET kept f 1\r\nEXPIRE kept 3000\r\n");
        for (int i = 0; i < 200; i++)
        {
            script.Append(CultureInfo.InvariantCulture, $"SET short{i} 1 PX 1500\r\n");
        }

        script.Append("SET short0 1 PX 1000\r\nPERSIST short1\r\nDEL short2\r\n");
        var results = new List<string>();
        IPEndPoint[] servers = [redis.EndPoint, cairn.EndPoint(WireProtocol.Resp)];
        Array.ForEach(servers, server => Ask(server, script.ToString()));
        foreach (IPEndPoint server in servers)
        {
            var waited = Stopwatch.StartNew();
            while (!Ask(server, "DBSIZE\r\n").Contains(":4\r\n", StringComparison.Ordinal))
            {
                Assert.True(waited.Elapsed < Patience, $"DBSIZE is {Ask(server, "DBSIZE\r\n")}");
            }

            string info = Ask(server, "INFO\r\n");
            results.Add($"{Line(info, "expired_keys")} {Line(info, "evicted_keys")} {Line(info, "db0").Split(",avg_ttl")[0]}");

            // The average of 1,000 and 3,000 seconds; Redis estimates it.
            long average = long.Parse(Line(info, "db0").Split("avg_ttl=")[1], CultureInfo.InvariantCulture);
            Assert.InRange(average, 0, 3_000_000);
            if (server.Port != redis.EndPoint.Port)
            {
                Assert.InRange(average, 1_700_000, 2_000_000);
            }
        }

        Assert.Equal(results[0], results[1]);
        Assert.Contains("expired_keys:199 ", results[1], StringComparison.Ordinal);
    }

    [Fact]
    public void Keys_that_expire_and_the_time_they_have_left_follow_every_change()
    {
        var clock = new ManualClock();
        using var host = new RespHost(clock);
        RespClient client = host.Connect();
        client.Run("SET a 1", "SET b 1 EX 100", "SET c 1 EX 300", "HSET h f 1", "EXPIRE h 200");
        Assert.Equal("db0:keys=4,expires=3,avg_ttl=200000", Keyspace(client));

        clock.Advance(TimeSpan.FromSeconds(50));
        Assert.Equal("db0:keys=4,expires=3,avg_ttl=150000", Keyspace(client));
        client.Run("PERSIST b", "DEL c", "EXPIRE a 10");
        Assert.Equal("db0:keys=3,expires=2,avg_ttl=80000", Keyspace(client));

        clock.Advance(TimeSpan.FromSeconds(150));
        host.Store.SweepExpired();
        Assert.Equal("db0:keys=1,expires=0,avg_ttl=0", Keyspace(client));
        client.Run("SET x 1 EX 10", "FLUSHALL");
        Assert.Equal("", Keyspace(client));
        client.Run("SET y 1 EX 10");
        Assert.Equal("db0:keys=1,expires=1,avg_ttl=10000", Keyspace(client));
    }

    [Fact]
    public void Expired_and_evicted_keys_count_from_the_start_of_the_server_and_from_each_reset()
    {
        var clock = new ManualClock();
        using var host = new RespHost(clock);
        RespClient client = host.Connect();
        client.Run("SET a 1 EX 10", "SET b 1 EX 100");
        clock.Advance(TimeSpan.FromSeconds(10));
        host.Store.SweepExpired();
        Assert.Equal("expired_keys:1", Line(client.Run("INFO stats"), "expired_keys"));

        client.Run("CONFIG RESETSTAT");
        Assert.Equal("expired_keys:0", Line(client.Run("INFO stats"), "expired_keys"));
        clock.Advance(TimeSpan.FromSeconds(100));
        host.Store.SweepExpired();
        Assert.Equal("expired_keys:1", Line(client.Run("INFO stats"), "expired_keys"));
        using var restarted = new Server.Resp.RespServer(host.Store, RespCommands.Table, clock);
        Assert.Equal(0, restarted.Statistics.Current.Expired);
    }

    private static string Keyspace(RespClient client) => Line(client.Run("INFO keyspace"), "db0");

    private static string Line(string info, string name) =>
        info.Split(['\r', '\n']).FirstOrDefault(line => line.StartsWith(name + ":", StringComparison.Ordinal)) ?? "";

    private static string Ask(IPEndPoint server, string requests) =>
        ReplyTexts.RunAlone(server, Encoding.ASCII.GetBytes($"{requests}ECHO \"{ReplyTexts.End}\"\r\n"));
}
