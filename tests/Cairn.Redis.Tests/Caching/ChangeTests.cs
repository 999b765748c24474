using System.Collections.Concurrent;
using System.Text;
using Cairn.Caching;
using Cairn.Redis.Tests.Servers;

namespace Cairn.Redis.Tests.Caching;

/// <summary>Processes receive the changes of others, and know when they do not receive them.</summary>
public sealed class ChangeTests
{
    private static readonly byte[] s_value = Encoding.UTF8.GetBytes("Dune");

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Redis2)]
    [InlineData(ServerKind.RedisPublishing)]
    [InlineData(ServerKind.Redis2Publishing)]
    [InlineData(ServerKind.Cairn)]
    [InlineData(ServerKind.Multiplexer)]
    [InlineData(ServerKind.Multiplexer2)]
    [InlineData(ServerKind.CairnMultiplexer)]
    public async Task Changes_of_others_are_reported_and_own_ones_are_not(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var mine = new CairnRedisCache(server.Options());
        await using var other = new CairnRedisCache(server.Options());
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)mine).Subscribe("books:", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");
        Assert.Equal(1, receiver.Missed);

        await mine.SetAsync("books:own", s_value, new() { SlidingExpiration = TimeSpan.FromMinutes(1) });
        await mine.RemoveAsync("books:own");
        await other.SetAsync("films:1", s_value, new());
        await other.SetAsync("books:1", s_value, new());
        await other.RemoveAsync("books:2"); // The server does not have it, but other processes can.
        await other.SetAsync("books:3", s_value, new() { SlidingExpiration = TimeSpan.FromMinutes(1) });
        await other.RemoveAsync("books:3");
        await Eventually.TrueAsync(() => receiver.Keys.Count(key => key == "books:3") >= 2, "the last change");

        Assert.DoesNotContain("books:own", receiver.Keys);
        Assert.DoesNotContain("films:1", receiver.Keys);
        Assert.Contains("books:1", receiver.Keys);
        Assert.Contains("books:2", receiver.Keys);
        Assert.Equal(1, receiver.Missed);
        Assert.True(mine.IsReceivingChanges);
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Redis2)]
    [InlineData(ServerKind.RedisPublishing)]
    [InlineData(ServerKind.Multiplexer)]
    [InlineData(ServerKind.Multiplexer2)]
    public async Task Missed_changes_of_a_lost_connection_are_reported_before_the_next_heartbeat(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var mine = new CairnRedisCache(server.Options());
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)mine).Subscribe("", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");

        server.Redis!.Cli("CLIENT", "KILL", "TYPE", "normal");
        server.Redis.Cli("CLIENT", "KILL", "TYPE", "pubsub");
        await Eventually.TrueAsync(() => receiver.Missed > 1, "the missed changes");
        int heartbeats = receiver.Heartbeats;
        await Eventually.TrueAsync(() => receiver.Heartbeats > heartbeats, "another heartbeat");

        Assert.Equal("missed", receiver.Events.Last(text => text != "heartbeat"));
        Assert.DoesNotContain(false, receiver.BeatAfterMissed);
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Multiplexer)]
    public async Task Frozen_server_gives_no_heartbeats_and_a_thawed_one_does(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var mine = new CairnRedisCache(server.Options(instanceName: ""));
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)mine).Subscribe("", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");

        ProcessSignals.Stop(server.Redis!.ProcessId);
        await Eventually.TrueAsync(() => !mine.IsReceivingChanges, "that nothing is heard");
        int heartbeats = receiver.Heartbeats;
        ProcessSignals.Continue(server.Redis!.ProcessId);

        await Eventually.TrueAsync(() => receiver.Heartbeats > heartbeats, "another heartbeat");
    }

    [RequiresToolFact("redis-server")]
    public async Task Clearing_the_server_is_reported_as_missed_changes()
    {
        using var server = RedisServer.Start();
        await using var mine = new CairnRedisCache(new CairnRedisOptions { Configuration = server.Configuration });
        var receiver = new RecordingReceiver();
        using IDisposable subscription = ((ICacheInvalidation)mine).Subscribe("", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");

        server.Cli("SET", "any", "value");
        server.Cli("FLUSHALL");

        await Eventually.TrueAsync(() => receiver.Missed > 1, "the missed changes");
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Multiplexer)]
    public async Task Channel_alone_reports_changes_with_their_sender(ServerKind kind)
    {
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var mine = new RedisChangeChannel(server.Options());
        await using var other = new RedisChangeChannel(server.Options());
        var receiver = new RecordingReceiver();
        using IDisposable subscription = mine.Subscribe("books:", receiver);
        await Eventually.TrueAsync(() => receiver.Heartbeats > 0, "a heartbeat");
        var sender = Guid.NewGuid();

        await other.PublishAsync(new CacheChange("films:1", false, sender), default);
        await other.PublishAsync(new CacheChange("books:1", false, sender), default);

        await Eventually.TrueAsync(() => !receiver.Changes.IsEmpty, "the change");
        Assert.Equal([new CacheChange("books:1", false, sender)], receiver.Changes);
        Assert.False(mine.ReportsChanges);
    }

    [RequiresToolFact("redis-server")]
    public async Task Two_caches_that_hear_of_changes_cannot_share_a_client()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        await using var first = new CairnRedisCache(new CairnRedisOptions { Client = client });
        await using var second = new CairnRedisCache(new CairnRedisOptions { Client = client, InstanceName = "second:" });
        using IDisposable subscription = ((ICacheInvalidation)first).Subscribe("", new RecordingReceiver());

        Assert.Throws<InvalidOperationException>(() => ((ICacheInvalidation)second).Subscribe("", new RecordingReceiver()));
    }
}

/// <summary>Records the messages that it receives.</summary>
internal sealed class RecordingReceiver : ICacheChangeReceiver
{
    private int _heartbeats;
    private int _missed;

    public ConcurrentQueue<CacheChange> Changes { get; } = new();

    public ConcurrentQueue<string> Events { get; } = new();

    public IEnumerable<string> Keys => Changes.Select(change => change.Key);

    public int Heartbeats => Volatile.Read(ref _heartbeats);

    public int Missed => Volatile.Read(ref _missed);

    /// <summary>Gets, for each heartbeat, whether the receiver had been notified of missed changes before.</summary>
    public ConcurrentQueue<bool> BeatAfterMissed { get; } = new();

    public void OnChanged(in CacheChange change)
    {
        Changes.Enqueue(change);
        Events.Enqueue(change.Key);
    }

    public void OnHeartbeat(TimeSpan age)
    {
        BeatAfterMissed.Enqueue(Missed > 0);
        Interlocked.Increment(ref _heartbeats);
        Events.Enqueue("heartbeat");
    }

    public void OnMissed()
    {
        Interlocked.Increment(ref _missed);
        Events.Enqueue("missed");
    }
}
