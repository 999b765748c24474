using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Server;
using Cairn.Caching;
using Cairn.Redis;

namespace Cairn.Benchmarks.RedisClients;

/// <summary>
/// How long does a call of the hybrid cache take at most when its Redis server is stopped, before the first call or in use? The documents
/// promise one second; the machine may add 100 ms. Each operation is called three times over a server of its own.
/// </summary>
internal static class StoppedServerCase
{
    private const int Calls = 3;
    private const double BoundMs = 1000;

    private static readonly (string Name, Func<CairnHybridCache, string, Task> CallAsync)[] s_operations =
    [
        ("GetOrCreate", (cache, key) => cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made")).AsTask()),
        ("GetOrCreate, tags", (cache, key) => cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made"), tags: [$"{key} 1", $"{key} 2"]).AsTask()),
        ("Get", (cache, key) => cache.GetAsync<string>(key).AsTask()),
        ("GetMany", (cache, key) => cache.GetManyAsync<string>([.. Enumerable.Range(0, 50).Select(i => $"{key} {i}")]).AsTask()),
        ("Set", (cache, key) => cache.SetAsync(key, "set", tags: [$"{key} 1"]).AsTask()),
        ("Remove", (cache, key) => cache.RemoveAsync(key).AsTask()),
        ("RemoveByTag", (cache, key) => cache.RemoveByTagAsync(key).AsTask()),
    ];

    public static void Measure(AreaRun run, ServerProgram program)
    {
        foreach (var isInUse in new[] { false, true })
        {
            var name = $"longest call over a Redis that was stopped {(isInUse ? "in use" : "before the first call")}";
            var pending = new Finding(name, "Cairn", "1 s") { Goal = Goal.AtMost(1.1) };
            run.Check($"redis, {name}", [pending], () =>
            {
                var longest = TimeSpan.Zero;
                var longestOf = "";
                foreach (var (operation, callAsync) in s_operations)
                {
                    var time = Wait(LongestAsync(program, Path.Combine(run.Settings.Folder, $"stopped-{Array.FindIndex(s_operations, one => one.Name == operation)}-{isInUse}"), callAsync, isInUse));
                    (longest, longestOf) = time > longest ? (time, operation) : (longest, longestOf);
                }

                var ns = longest.TotalNanoseconds;
                return
                [
                    pending with
                    {
                        Measured = new Sample(ns, ns, BytesAllocated: 0),
                        Ratio = longest.TotalMilliseconds / BoundMs,
                        Note = longestOf,
                    },
                ];
            });
        }
    }

    private static async Task<TimeSpan> LongestAsync(ServerProgram program, string folder, Func<CairnHybridCache, string, Task> callAsync, bool isInUse)
    {
        using var server = ServerProcess.Start(program, WireProtocol.Resp, folder, isUnix: false);
        await using var redis = new CairnRedisCache(new CairnRedisOptions { Configuration = $"127.0.0.1:{server.Address.Port}" });
        await using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = redis });
        if (isInUse)
        {
            await callAsync(cache, "used");
        }

        Signal("-STOP", server.Id);
        try
        {
            var longest = TimeSpan.Zero;
            for (var i = 0; i < Calls; i++)
            {
                var start = Stopwatch.GetTimestamp();
                await callAsync(cache, string.Create(CultureInfo.InvariantCulture, $"key {i}"));
                var time = Stopwatch.GetElapsedTime(start);
                longest = time > longest ? time : longest;
            }

            return longest;
        }
        finally
        {
            Signal("-CONT", server.Id);
        }
    }

    private static void Signal(string signal, int process)
    {
        using var kill = Process.Start("kill", [signal, process.ToString(CultureInfo.InvariantCulture)]);
        kill.WaitForExit();
    }

#pragma warning disable VSTHRD002 // A benchmark has a thread of its own.
    private static T Wait<T>(Task<T> task) => task.GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
}
