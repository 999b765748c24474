using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Server;
using Cairn.Redis;

namespace Cairn.Benchmarks.RedisClients;

/// <summary>Compares the Redis client with a client in C and with a bare socket, on a local redis-server.</summary>
internal sealed class RedisArea : IArea
{
    private const int ValueBytes = 100;
    private const int Callers = 50;
    private const string Key = "book:42";

    public string Name => "redis";

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

            // A client that waits for whole batches may run on the server's core too. There, no thread on another core has to be woken.
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
#pragma warning disable VSTHRD002 // A benchmark has a thread of its own.
        client.SetAsync(Key, new byte[ValueBytes]).AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
        return client;
    }
}
