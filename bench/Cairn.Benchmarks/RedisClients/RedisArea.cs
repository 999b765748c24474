using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Server;
using Cairn.Redis;

namespace Cairn.Benchmarks.RedisClients;

/// <summary>The client of Redis against one in C and against a bare socket, on this machine's redis-server.</summary>
internal sealed class RedisArea : IArea
{
    private const int ValueBytes = 100;
    private const int Callers = 50;
    private const string Key = "book:42";

    public string Name => "redis";

    public string Summary => "requests of the Redis client, against hiredis and a bare socket; how soon another process hears of a change";

    public void Run(AreaRun run)
    {
        ServerProgram program;
        try
        {
            program = ServerPeers.Redis();
        }
        catch (PeerUnavailableException unavailable)
        {
            run.Log.Say(unavailable.Message);
            return;
        }

        using var server = ServerProcess.Start(program, WireProtocol.Resp, Path.Combine(run.Settings.Folder, "redis"), isUnix: false);
        var operations = run.Settings.IsQuick ? 50_000 : 500_000;
        var roundTrips = run.Settings.IsQuick ? 2_000 : 20_000;
        var rounds = run.Settings.IsQuick ? 3 : 9;
        run.Measure("redis, 50 callers on one connection", rounds, group =>
        {
            var client = Connect(group, server);
            var subject = group.Enter(new PipelinedGets(client, Key, Callers, operations));

            // Whoever waits for whole batches may do so beside the server, or in its place, where nobody has to be woken on another core.
            foreach (var (name, core) in new[] { ("hiredis", LoadGenerator.Core), ("hiredis on the server's core", ServerProcess.Core) })
            {
                var peer = group.MakePeer(() => new HiredisGets(
                    name, core, run.Settings.Root, run.Settings.Folder, server.Address.Port, Key, Callers, operations));
                if (peer is not null)
                {
                    group.Enter(peer);
                }

                group.Compare("GET of 100 B by 50 callers", subject, peer, Goal.AtLeast(0.8), Quantity.Throughput);
            }
        });

        run.Measure("redis, round trip", rounds, group =>
        {
            var client = Connect(group, server);
            var subject = group.Enter(new PipelinedGets(client, Key, callers: 1, roundTrips));
            var peer = group.Enter(new BareSocketGets(server.Address.Port, Key, roundTrips));
            group.Compare("GET of 100 B, one after the other", subject, peer, Goal.AtMost(1.3), Quantity.WallTime);
            group.ExpectNoAllocation("GET of 100 B, one after the other", subject);
        });

        InvalidationCase.Measure(run, server.Address.Port);
        StoppedServerCase.Measure(run, program);
    }

    private static RedisClient Connect(CaseGroup group, ServerProcess server)
    {
        var client = group.Own(RedisClient.Create($"127.0.0.1:{server.Address.Port}"));
#pragma warning disable VSTHRD002 // A benchmark has its thread for itself.
        client.SetAsync(Key, new byte[ValueBytes]).AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
        return client;
    }
}
