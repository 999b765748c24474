using System.Globalization;
using System.Text;
using Cairn.Caching;
using Cairn.Redis.Cluster;
using Cairn.Redis.Tests.Caching;
using Cairn.Redis.Tests.Servers;

namespace Cairn.Redis.Tests.Client;

/// <summary>A Cluster behaves like one server for its callers, even while it changes.</summary>
public sealed class ClusterTests
{
    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Cluster_serves_keys_of_all_slots_and_survives_the_death_of_a_master()
    {
        using RedisCluster cluster = await RedisCluster.StartAsync();
        await using var client = RedisClient.Create(cluster.Configuration);

        // The keys belong to all nodes. The client gets and sets them one by one and in batches.
        RedisArgument[] keys = [.. Enumerable.Range(0, 300).Select(i => new RedisArgument($"key:{i}"))];
        await Task.WhenAll(keys.Select(key => client.SetAsync(key, key).AsTask()));
        byte[]?[] values = await client.GetManyAsync(keys);
        Assert.Equal(keys.Select(key => key.ToString()), values.Select(value => Encoding.UTF8.GetString(value!)));
        Assert.True(client.IsCluster);
        Assert.Equal(3, client.GetHealth().Servers.Count);
        Assert.Equal(100, await client.DeleteAsync(keys[..100]));
        Assert.Equal(2, (await client.ExecuteTransactionAsync([["SET", "{t}a", 1], ["SET", "{t}b", 2]])).Count);

        // A slot moves to another node. The server replies ASK during the move, and MOVED after it.
        string moving = "key:200";
        int slot = HashSlot.Of(Encoding.UTF8.GetBytes(moving));
        RedisServer source = cluster.Servers.Take(3).Single(server => server.Cli("GET", moving) == moving);
        RedisServer target = cluster.Servers.Take(3).First(server => server != source);
        string slotText = slot.ToString(CultureInfo.InvariantCulture);
        target.Cli("CLUSTER", "SETSLOT", slotText, "IMPORTING", source.Cli("CLUSTER", "MYID"));
        source.Cli("CLUSTER", "SETSLOT", slotText, "MIGRATING", target.Cli("CLUSTER", "MYID"));
        source.Cli("MIGRATE", "127.0.0.1", target.Port.ToString(CultureInfo.InvariantCulture), moving, "0", "5000");
        Assert.Equal(moving, Encoding.UTF8.GetString((await client.GetAsync(moving))!));
        string owner = target.Cli("CLUSTER", "MYID");
        target.Cli("CLUSTER", "SETSLOT", slotText, "NODE", owner);
        source.Cli("CLUSTER", "SETSLOT", slotText, "NODE", owner);
        Assert.Equal(moving, Encoding.UTF8.GetString((await client.GetAsync(moving))!));

        // Messages about changes arrive from every node.
        await using var mine = new CairnRedisCache(new CairnRedisOptions { Configuration = cluster.Configuration });
        await using var other = new CairnRedisCache(new CairnRedisOptions { Configuration = cluster.Configuration });
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)mine).Subscribe("cached:", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");
        string[] cached = [.. Enumerable.Range(0, 30).Select(i => $"cached:{i}")];
        await Task.WhenAll(cached.Select(key => other.SetAsync(key, Encoding.UTF8.GetBytes(key), new())));
        await Eventually.TrueAsync(() => cached.All(key => receiver.Keys.Contains(key)), "changes on all nodes");
        Assert.Equal(CacheLeaseStatus.Acquired, await ((ICacheLeases)mine).TryAcquireAsync("odd}{", "me", TimeSpan.FromMinutes(1), true, default));
        Assert.Equal(CacheLeaseStatus.Acquired, await ((ICacheLeases)mine).TrySetAsync("odd}{", "me", new byte[1], new(), default));

        // The master ends, and its replica takes its place. The replica has the acknowledged writes, because the test waits until they are replicated.
        // (WAIT would only wait for writes of redis-cli itself.)
        long written = OffsetOf(cluster.Servers[0], "master_repl_offset:");
        await Eventually.TrueAsync(() => OffsetOf(cluster.Replica, "slave_repl_offset:") >= written, "the replica has all that was written");
        cluster.KillFirstMaster();
        byte[]?[] after = await client.GetManyAsync(keys[100..]);
        Assert.Equal(keys[100..].Select(key => key.ToString()), after.Select(value => Encoding.UTF8.GetString(value!)));
        Assert.Contains("role:master", cluster.Replica.Cli("INFO", "replication"), StringComparison.Ordinal);
        await Task.WhenAll(keys[100..].Select(key => client.SetAsync(key, "again").AsTask()));
        Assert.All(await client.GetManyAsync(keys[100..]), value => Assert.Equal("again", Encoding.UTF8.GetString(value!)));

        // The receiver is also notified of missed changes before the next heartbeat.
        int missed = receiver.Missed;
        await Eventually.TrueAsync(() => receiver.Missed > missed || missed > 1, "missed changes");
        await Eventually.TrueAsync(() => mine.IsReceivingChanges, "that changes are heard again");
        await Task.WhenAll(cached.Select(key => other.RemoveAsync(key)));
        await Eventually.TrueAsync(() => cached.All(key => receiver.Keys.Count(other => other == key) > 1), "changes on all nodes again");

        // A container disposes an object once for each service that it implements.
        await mine.DisposeAsync();
        await mine.DisposeAsync();
    }

    private static long OffsetOf(RedisServer server, string name)
    {
        string line = server.Cli("INFO", "replication").Split('\n').Single(line => line.StartsWith(name, StringComparison.Ordinal));
        return long.Parse(line.AsSpan(name.Length).Trim(), CultureInfo.InvariantCulture);
    }
}
