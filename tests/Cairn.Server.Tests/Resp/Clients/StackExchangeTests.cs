using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;
using Cairn.Server.Tests.Testing;
using StackExchange.Redis;

namespace Cairn.Server.Tests.Resp.Clients;

/// <summary>StackExchange.Redis shows the same with redis-server and with Cairn.</summary>
public class StackExchangeTests(RespServers servers) : IClassFixture<RespServers>
{
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(100);

    [RequiresToolFact("redis-server")]
    public async Task Strings_and_keys_are_answered_as_by_redis() => await AssertAlikeAsync((connection, show) =>
    {
        IDatabase database = connection.GetDatabase();
        show("set", [database.StringSet("book", "Dune"), database.StringSet("book", "x", when: When.NotExists), database.StringSet("book", "Emma", Long, When.Exists)]);
        show("get", [(string?)database.StringGet("book"), (string?)database.StringGet("nothing"), (string?)database.StringGetRange("book", 1, 2), database.StringLength("book")]);
        show("with expiry", [database.StringGetWithExpiry("book").Expiry > TimeSpan.FromSeconds(90), (string?)database.StringGetWithExpiry("book").Value]);
        show("getset", [(string?)database.StringGetSet("book", "Ulysses"), database.KeyTimeToLive("book") is null]);
        show("bytes", [database.StringSet("bytes", new byte[] { 0, 13, 10, 255 }), Convert.ToHexString((byte[]?)database.StringGet("bytes") ?? [])]);
        show("large", [database.StringSet("large", new string('x', 1_000_000)), ((string?)database.StringGet("large"))?.Length]);
        show("mset", [database.StringSet([new("a", 1), new("b", 2)]), database.StringGet(["a", "nothing", "b"]).Select(value => (string?)value), database.StringSet([new("a", 1), new("c", 2)], When.NotExists)]);
        show("increment", [database.StringIncrement("n"), database.StringIncrement("n", 41), database.StringDecrement("n", 2), database.StringIncrement("f", 0.5)]);
        show("append", [database.StringAppend("t", "ab"), (string?)database.StringSetRange("t", 1, "XY"), (string?)database.StringGet("t")]);
        show("expire", [database.KeyExpire("a", Long), database.KeyTimeToLive("a") > TimeSpan.FromSeconds(90), database.KeyPersist("a"), database.KeyExpire("a", new DateTime(2001, 1, 1, 0, 0, 0, DateTimeKind.Utc)), database.KeyExists("a")]);
        show("keys", [database.KeyType("b").ToString(), database.KeyType("nothing").ToString(), database.KeyRename("b", "z"), database.KeyDelete("z"), database.KeyDelete(["x", "t"])]);
        show("wrong type", [Failure(() => database.HashGet("n", "f")), Failure(() => database.StringIncrement("book"))]);
        show("ping", [database.Ping() > TimeSpan.Zero, (string?)database.Execute("ECHO", "hello"), Failure(() => database.Execute("NONSENSE", "x"))]);

        Task<bool>[] sets = [.. Enumerable.Range(0, 2000).Select(i => database.StringSetAsync($"scan:{i}", i))];
        Task<RedisValue>[] gets = [.. Enumerable.Range(0, 2000).Select(i => database.StringGetAsync($"scan:{i}"))];
        show("pipelined", [sets.All(ResultOf), gets.Select(value => (int)ResultOf(value)).Sum()]);
        IServer server = connection.GetServer(connection.GetEndPoints()[0]);
        show("scan", [server.Keys(pattern: "scan:*", pageSize: 250).Select(key => (string?)key).Order(StringComparer.Ordinal), server.DatabaseSize()]);
        show("server", [server.Version.Major, server.IsReplica, server.ServerType.ToString(), server.Time().Year > 2000, server.ConfigGet("databases")]);
        show("clients", [server.ClientList().Any(client => client.Name == "tester"), server.Info("replication").First().Any(item => item is { Key: "role", Value: "master" })]);
        server.FlushDatabase();
        show("emptied", [server.DatabaseSize(), database.KeyRandom().ToString()]);
    });

    [RequiresToolFact("redis-server")]
    public async Task Hashes_are_answered_as_by_redis() => await AssertAlikeAsync((connection, show) =>
    {
        IDatabase database = connection.GetDatabase();
        database.KeyDelete("h");
        show("set", [database.HashSet("h", "f", "v"), database.HashSet("h", "f", "w"), database.HashSet("h", "f", "x", When.NotExists)]);
        database.HashSet("h", [new HashEntry("g", 1), new HashEntry("i", "ü")]);
        show("get", [(string?)database.HashGet("h", "i"), (string?)database.HashGet("h", "x"), database.HashGet("h", ["f", "x"]).Select(value => (string?)value)]);
        show("all", [database.HashGetAll("h").Select(entry => entry.ToString()), database.HashKeys("h").Select(key => (string?)key), database.HashValues("h").Select(value => (string?)value)]);
        show("increment", [database.HashIncrement("h", "g", 5), database.HashIncrement("h", "d", 1.5), database.HashDecrement("h", "g"), database.HashLength("h"), database.HashExists("h", "x")]);
        show("scan", [database.HashScan("h", "*").Select(entry => entry.ToString()).Order(StringComparer.Ordinal)]);
        show("delete", [database.HashDelete("h", "f"), database.HashDelete("h", ["g", "i", "x"]), database.HashDelete("h", "d"), database.KeyExists("h")]);
    });

    [RequiresToolFact("redis-server")]
    public async Task Transactions_and_locks_are_answered_as_by_redis() => await AssertAlikeAsync((connection, show) =>
    {
        IDatabase database = connection.GetDatabase();
        database.KeyDelete(["t", "guard", "lock", "h"]);
        show("guard", [database.StringSet("guard", "open"), database.HashSet("h", "f", "v")]);

        foreach (Condition condition in new[]
        {
            Condition.StringEqual("guard", "open"), Condition.StringEqual("guard", "shut"), Condition.KeyExists("guard"), Condition.KeyExists("nothing"),
            Condition.KeyNotExists("nothing"), Condition.HashEqual("h", "f", "v"), Condition.HashNotExists("h", "x"), Condition.StringNotEqual("guard", "open"),
        })
        {
            ITransaction transaction = database.CreateTransaction();
            ConditionResult result = transaction.AddCondition(condition);
            Task<long> incremented = transaction.StringIncrementAsync("t");
            Task<HashEntry[]> hash = transaction.HashGetAllAsync("h");
            bool isCommitted = transaction.Execute();
            show(condition.ToString()!, [isCommitted, result.WasSatisfied]);
            if (isCommitted)
            {
                show("done", [ResultOf(incremented), ResultOf(hash).Length]);
            }
        }

        show("take", [database.LockTake("lock", "me", Long), database.LockTake("lock", "you", Long), (string?)database.LockQuery("lock")]);
        show("extend", [database.LockExtend("lock", "me", Long), database.LockExtend("lock", "you", Long)]);
        show("release", [database.LockRelease("lock", "you"), database.LockRelease("lock", "me"), database.LockRelease("lock", "me")]);
    });

    [RequiresToolFact("redis-server")]
    public async Task Messages_arrive_as_from_redis() => await AssertAlikeAsync((connection, show) =>
    {
        ISubscriber subscriber = connection.GetSubscriber();
        var heard = new ConcurrentQueue<string>();
        using var all = new CountdownEvent(21);
        void Hear(RedisChannel channel, RedisValue message)
        {
            heard.Enqueue($"{(string?)channel} {(string?)message}");
            all.Signal();
        }

        subscriber.Subscribe(RedisChannel.Literal("news"), Hear);
        subscriber.Subscribe(RedisChannel.Pattern("n?mbers"), Hear);
        long[] receivers = [.. Enumerable.Range(0, 10).Select(i => subscriber.Publish(RedisChannel.Literal("news"), i))];
        long[] others = [.. Enumerable.Range(0, 10).Select(i => subscriber.Publish(RedisChannel.Literal("numbers"), i))];
        show("receivers", [receivers, others, subscriber.Publish(RedisChannel.Literal("unread"), "x")]);
        subscriber.Publish(RedisChannel.Literal("news"), "last");
        show("heard", [all.Wait(Long), heard.Order(StringComparer.Ordinal), subscriber.Ping() > TimeSpan.Zero, subscriber.IsConnected(RedisChannel.Literal("news"))]);
        subscriber.UnsubscribeAll();
        IServer server = connection.GetServer(connection.GetEndPoints()[0]);
        show("unsubscribed", [server.SubscriptionSubscriberCount(RedisChannel.Literal("news")), server.SubscriptionPatternCount(), subscriber.Publish(RedisChannel.Literal("news"), "x")]);
    });

    // The script has a thread of its own.
#pragma warning disable VSTHRD002
    private static T ResultOf<T>(Task<T> task) => task.GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    private static string Failure(Action action) => Record.Exception(action) is { } exception
        ? $"{exception.GetType().Name} {exception.Message}"
        : "none";

    private static async Task<string> RunAsync(IPEndPoint server, Action<ConnectionMultiplexer, Action<string, object?[]>> script)
    {
        var options = new ConfigurationOptions
        {
            EndPoints = { server },
            ClientName = "tester",
            AllowAdmin = true,
            SyncTimeout = 60_000,
            ConnectTimeout = 60_000,
        };
        using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(options);
        var shown = new StringBuilder();
        await OwnThread.Run(() => script(
            connection,
            (what, answers) => shown.Append(CultureInfo.InvariantCulture, $"{what} {JsonSerializer.Serialize(answers)}\n")));

        // Disposing an open connection would send QUIT and wait long for a reply that it does not recognise.
        await connection.CloseAsync(allowCommandsToComplete: false);
        return shown.ToString();
    }

    private async Task AssertAlikeAsync(Action<ConnectionMultiplexer, Action<string, object?[]>> script)
    {
        string redis = await RunAsync(servers.Redis, script);
        string cairn = await RunAsync(servers.Cairn, script);

        ClientScript.AssertSameLines(redis, cairn);
    }
}
