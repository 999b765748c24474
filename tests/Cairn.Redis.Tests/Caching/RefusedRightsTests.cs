using System.Globalization;
using System.Text;
using Cairn.Caching;
using Cairn.Caching.Tests;
using Cairn.Redis.Tests.Servers;

namespace Cairn.Redis.Tests.Caching;

/// <summary>A hybrid cache whose Redis user lacks one right: the server refuses one kind of call at once, and serves the others.</summary>
public sealed class RefusedRightsTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    // Only a call that waits for something that does not come takes this long.
    private static readonly TimeSpan s_timeout = TimeSpan.FromMinutes(10);

    private static readonly ServerKind[] s_clients = [ServerKind.Redis, ServerKind.Redis2, ServerKind.RedisPublishing, ServerKind.Multiplexer];

    // The right that the user lacks, and the event that reports it for each of the clients; none if that client can do without a replacement.
    //   510  a call of the second level failed     604  no changes of other processes     605  changes are not published     606  no scripts
    private static readonly (string Lacking, string Events)[] s_rights =
    [
        ("-subscribe", "none 604 604 604"), ("resetchannels", "none 604 604 604"), ("resetchannels", "none none 605 605"), ("-publish", "none none 605 605"),
        ("-@pubsub", "none 604 604 604"), ("-ping", "604 604 604 none"), ("-client|tracking", "604 604 none none"), ("-client|trackinginfo", "none none none none"),
        ("-client", "none none none none"), ("-eval -evalsha", "606 606 606 606"), ("-@scripting", "606 606 606 606"), ("-multi", "510 510 510 510"),
        ("-exec", "510 510 510 510"), ("-watch", "none none none none"), ("-@transaction", "510 510 510 510"), ("-@write", "510 510 510 510"),
        ("-hset", "510 510 510 510"), ("-set", "510 510 510 510"), ("-hmget", "510 510 510 510"), ("-@read", "510 510 510 510"), ("-pexpire", "510 510 510 510"),
        ("-persist", "none none none none"), ("-unlink", "510 510 510 510"), ("-pttl", "none none none none"), ("-exists", "510 510 510 510"),
        ("-info", "none none none none"), ("-@keyspace", "510 510 510 510"), ("resetkeys %R~*", "510 510 510 510"), ("resetkeys ~shop:*", "510 510 510 510"),
    ];

    [RequiresToolTheory("redis-server", "redis-cli")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.Redis2)]
    [InlineData(ServerKind.RedisPublishing)]
    [InlineData(ServerKind.Multiplexer)]
    public async Task No_call_waits_for_what_the_server_refuses_and_the_log_says_once_what_to_do(ServerKind client)
    {
        await using SharedServer server = await StartAsync(client);

        string[] failures = await Task.WhenAll(s_rights.Select((right, user) => Task.Run(() => UseAsync(server, user, right.Lacking, right.Events))));

        Assert.True(failures.All(failure => failure.Length == 0), string.Join('\n', failures.Where(failure => failure.Length > 0)));
    }

    [RequiresToolTheory("redis-server", "redis-cli")]
    [InlineData(ServerKind.RedisPublishing)]
    [InlineData(ServerKind.Multiplexer)]
    public async Task Values_are_shared_and_removed_although_the_server_refuses_to_publish(ServerKind client)
    {
        await using SharedServer server = await SharedServer.StartAsync(client);
        server.Redis!.Cli("ACL", "SETUSER", "silent", "on", ">secret", "~*", "+@all", "-publish");
        await using var silent = new CairnRedisCache(server.Options(settings: ",user=silent,password=secret"));
        await using var other = new CairnRedisCache(server.Options());

        await silent.SetAsync("book", "Dune"u8.ToArray(), new());
        Assert.Equal("Dune"u8.ToArray(), await other.GetAsync("book"));
        await silent.RemoveAsync("book");

        Assert.Null(await other.GetAsync("book"));
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Separate_channel_that_may_not_publish_leaves_no_changes_pending()
    {
        await using SharedServer server = await SharedServer.StartAsync(ServerKind.Redis);
        server.Redis!.Cli("ACL", "SETUSER", "silent", "on", ">secret", "~*", "+@all", "-publish");
        await using var store = new CairnRedisCache(server.Options());
        await using var channel = new RedisChangeChannel(server.Options(settings: ",user=silent,password=secret"));

        await ((ICacheInvalidation)channel).PublishAsync(new CacheChange("book", IsPrefix: false, Guid.NewGuid()), default).AsTask().WaitAsync(s_patience);
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Changes_arrive_once_the_user_may_subscribe()
    {
        await using SharedServer server = await SharedServer.StartAsync(ServerKind.RedisPublishing);
        server.Redis!.Cli("ACL", "SETUSER", "deaf", "on", ">secret", "~*", "&*", "+@all", "-subscribe");
        var receiver = new RefusalReceiver();
        await using var cache = new CairnRedisCache(server.Options(settings: ",user=deaf,password=secret"));
        using IDisposable subscription = ((ICacheInvalidation)cache).Subscribe("", receiver);
        await receiver.Refused.Task.WaitAsync(s_patience);
        Assert.False(cache.IsReceivingChanges);

        server.Redis!.Cli("ACL", "SETUSER", "deaf", "+subscribe");
        await receiver.Alive.Task.WaitAsync(s_patience);
        await using var other = new CairnRedisCache(server.Options());
        await other.SetAsync("book", "Dune"u8.ToArray(), new());

        Assert.Equal("book", await receiver.Changed.Task.WaitAsync(s_patience));
    }

    private static async Task<SharedServer> StartAsync(ServerKind client)
    {
        SharedServer server = await SharedServer.StartAsync(client);
        var rules = new StringBuilder();
        for (int i = 0; i < s_rights.Length; i++)
        {
            rules.Append(CultureInfo.InvariantCulture, $"ACL SETUSER {UserOf(i)} on >secret ~* &* +@all {s_rights[i].Lacking}\n");
        }

        Assert.Equal(string.Join('\n', Enumerable.Repeat("OK", s_rights.Length)), RedisServer.Cli(server.Redis!.Port, rules.ToString()));
        return server;
    }

    // Returns what took too long, or was wrong.
    private static async Task<string> UseAsync(SharedServer server, int user, string lacking, string events)
    {
        using var loggers = new RecordingLoggers();
        await using var redis = new CairnRedisCache(
            server.Options(instanceName: string.Create(null, $"shop:{user}:"), string.Create(null, $",user={UserOf(user)},password=secret")), loggers.For<CairnRedisCache>());
        await using var cache = CairnHybridCache.Create(
            new CairnHybridCacheOptions { DistributedCache = redis, DistributedReadTimeout = s_timeout, DistributedWriteTimeout = s_timeout }, loggers);
        (string Name, Func<Task> Run)[] operations =
        [
            ("the removal", () => cache.RemoveAsync("key").AsTask()),
            ("the creation after it", async () => Assert.Equal("made", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made")))),
            ("the second creation", async () => Assert.Equal("made", await cache.GetOrCreateAsync("key 2", _ => new ValueTask<string>("made"), tags: ["tag"]))),
            ("the set", () => cache.SetAsync("key", "set").AsTask()),
            ("the get", async () => Assert.Equal("set", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("set")))),
            ("the removal by tag", () => cache.RemoveByTagAsync("tag").AsTask()),
            ("the third creation", async () => Assert.Equal("new", await cache.GetOrCreateAsync("key 2", _ => new ValueTask<string>("new"), tags: ["tag"]))),
        ];
        foreach ((string name, Func<Task> run) in operations)
        {
            Task running = run();
            if (await Task.WhenAny(running, Task.Delay(s_patience)) != running) // A call that waits must not keep the others from being tried.
            {
                return $"{lacking}: {name} waits";
            }

            await running;
        }

        string expected = events.Split(' ')[Array.IndexOf(s_clients, server.Kind)];
        if (expected != "none")
        {
            // The channel is refused in the background.
            await Eventually.TrueAsync(() => loggers.Lines.Any(line => line.Contains($" {expected}: ", StringComparison.Ordinal)), $"event {expected} without {lacking}");
        }

        string[] warnings = [.. loggers.Lines.Where(line => !line.StartsWith("Information 60", StringComparison.Ordinal) || line.StartsWith("Information 606", StringComparison.Ordinal))];
        return warnings.Distinct(StringComparer.Ordinal).Count() != warnings.Length ? $"{lacking}: a line twice in {string.Join('\n', warnings)}"
            : warnings.FirstOrDefault(line => !line.Contains(" 512: ", StringComparison.Ordinal) && !line.Contains("the user of Redis", StringComparison.Ordinal)) is { } silent
                ? $"{lacking}: no advice in {string.Join('\n', warnings)}"
                : "";
    }

    private static string UserOf(int index) => string.Create(CultureInfo.InvariantCulture, $"user{index}");

    private sealed class RefusalReceiver : ICacheChangeReceiver
    {
        public TaskCompletionSource Refused { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Alive { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource<string> Changed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void OnChanged(in CacheChange change) => Changed.TrySetResult(change.Key);

        public void OnHeartbeat(TimeSpan age) => Alive.TrySetResult();

        public void OnMissed()
        {
            // Every connection begins with it.
        }

        public void OnRefused() => Refused.TrySetResult();
    }
}
