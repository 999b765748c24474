using System.Diagnostics;
using Cairn.Redis;
using Cairn.Redis.Tests.Servers;
using Cairn.TortureTests.Histories;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Hybrid;

/// <summary>
/// Processes that share only a server, as different machines do, get, set and remove keys and tags through hybrid caches. Their connections
/// to the server are cut at random. No read is older than a change that was acknowledged longer ago than the bound.
/// </summary>
public sealed class HybridRedisTests(ITestOutputHelper output)
{
    private const int Processes = 3;
    private const int HotKeys = 40;

    // Three for each process (commands, messages, leases) and the one that cuts them. However often they are cut, no connection leaks.
    private const int MostConnections = (3 * Processes) + 1;

    // A cache stops trusting its first level two seconds after the last heartbeat. The rest is for a busy machine.
    private static readonly TimeSpan s_bound = TimeSpan.FromSeconds(3);

    private static readonly int Rounds = TortureRun.Count(inShort: 1, inLong: 30);
    private static readonly int MillisecondsPerRound = TortureRun.Count(inShort: 3_000, inLong: 60_000);

    // tests/Cairn.Simulation cuts the connections of the first kind, thousands of times.
    public static TheoryData<ServerKind> Kinds =>
    [
        .. TortureRun.IsLong ? [ServerKind.Redis] : Array.Empty<ServerKind>(),
        ServerKind.Redis2, ServerKind.RedisPublishing, ServerKind.Cairn, ServerKind.Multiplexer,
    ];

    [RequiresToolTheory("redis-server")]
    [MemberData(nameof(Kinds))]
    public async Task No_machine_reads_what_is_older_than_the_bound(ServerKind kind)
    {
        var torture = new TortureRun(output);
        for (int round = 0; round < Rounds; round++)
        {
            await WorkAsync(torture, torture.Random.Next(), kind, isCut: true);
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task One_machine_makes_a_value_that_all_miss()
    {
        var torture = new TortureRun(output);
        HybridHistory history = await WorkAsync(torture, torture.Random.Next(), ServerKind.Redis, isCut: false);

        Assert.True(
            history.Overlaps.Count * 100 <= history.FactoryRuns,
            $"{history.Overlaps.Count} of {history.FactoryRuns} factories ran beside another of their key.\n{string.Join('\n', history.Overlaps.Take(3))}\n{torture.Replay}");
    }

    private async Task<HybridHistory> WorkAsync(TortureRun torture, int seed, ServerKind kind, bool isCut)
    {
        using var directory = new TestDirectory();
        await using SharedServer server = await SharedServer.StartAsync(kind);
        await using var cutter = RedisClient.Create(server.Address);
        var random = new Random(seed);
        var run = new HybridRun(directory.Path, seed, MillisecondsPerRound, HotKeys);
        var workers = new List<HybridProcess>();
        try
        {
            for (int i = 0; i < Processes; i++)
            {
                workers.Add(new HybridProcess(
                    run with { LocalMaxEntries = i == 0 ? 200 : 100_000 }, i, "hybrid-redis", server.Address, kind.ToString()));
            }

            workers.ForEach(worker => worker.Expect("open"));
            workers.ForEach(worker => worker.Go());
            long start = Stopwatch.GetTimestamp();
            int longestPause = random.Next(2) == 0 ? 250 : 1_200; // With short pauses, no heartbeat arrives for a long time.
            while (isCut && Stopwatch.GetElapsedTime(start).TotalMilliseconds < MillisecondsPerRound)
            {
                await Task.Delay(random.Next(10, longestPause)); // A cut must come at any moment, so it waits for no event.
                await cutter.ExecuteAsync(["CLIENT", "KILL", "TYPE", random.Next(2) == 0 ? "normal" : "pubsub"]); // It does not cut its own connection.
            }

            workers.ForEach(worker => worker.Expect("done"));
            await Task.Delay(s_bound + TimeSpan.FromSeconds(2)); // Time to write pending changes and to deliver missed invalidations.
            long restsFrom = Stopwatch.GetTimestamp();
            workers.ForEach(worker => worker.Go());
            workers.ForEach(worker => worker.Expect("done"));
            RedisReply clients = await cutter.ExecuteAsync(["CLIENT", "LIST"]);
            int connections = clients.Text!.Split('\n', StringSplitOptions.RemoveEmptyEntries).Length;
            workers.ForEach(worker => worker.End());
            var history = new HybridHistory([.. workers.SelectMany(worker => worker.Operations())], restsFrom, s_bound);
            output.WriteLine(history.ToString());
            Console.WriteLine(history);

            Assert.True(history.Faults.Count == 0, $"{history.Faults.Count} faults.\n{string.Join('\n', history.Faults.Take(3))}\n{torture.Replay}");
            Assert.InRange(connections, Processes, MostConnections);
            Assert.True(history.FactoryRuns > 20 && history.Reads > 100, $"Too little was done: {history}");
            return history;
        }
        finally
        {
            workers.ForEach(worker => worker.Dispose());
        }
    }
}
