using System.Globalization;
using Cairn.Caching;
using Cairn.Redis;
using Cairn.Redis.Tests.Servers;

namespace Cairn.TortureTests.Hybrid;

#pragma warning disable VSTHRD002 // A role is the whole of its process: nothing else waits for its thread.

/// <summary>What the other processes of these tests do.</summary>
internal static class HybridRoles
{
    /// <summary>
    /// WORKER RUN: says "open"; after a line works, and says "done"; after another looks for every key, and says "done"; ends with its input.
    /// Says instead what went wrong.
    /// </summary>
    public static void Work(string[] args)
    {
        int number = int.Parse(args[0], CultureInfo.InvariantCulture);
        var run = HybridRun.Parse(args[1..]);
        using CairnStore store = CairnStore.Open(run.Store);
        using var cache = CairnHybridCache.Create(run.OptionsOf(store));
        Work(run, cache, number);
    }

    /// <summary>WORKER RUN ADDRESS KIND: the same over a server of that kind, as a machine of its own would.</summary>
    public static void WorkOverRedis(string[] args)
    {
        int number = int.Parse(args[0], CultureInfo.InvariantCulture);
        var run = HybridRun.Parse(args[1..]);
        using var redis = new CairnRedisCache(SharedServer.OptionsOf(Enum.Parse<ServerKind>(args[^1]), args[^2], instanceName: ""));
        using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions { LocalMaxEntries = run.LocalMaxEntries, DistributedCache = redis });
        Work(run, cache, number);
    }

    private static void Work(HybridRun run, CairnHybridCache cache, int number)
    {
        using var worker = new HybridWorker(run, cache, number);
        Console.WriteLine("open");
        foreach (Func<Task> work in new Func<Task>[] { worker.WorkAsync, worker.LookAtAllAsync })
        {
            if (Console.ReadLine() is null)
            {
                return;
            }

            Console.WriteLine(OutcomeOf(work));
        }

        Console.ReadLine();
    }

    /// <summary>PATH KEY VALUE: says "making" in the factory of the key, and after a line makes the value and says what it got.</summary>
    public static void Make(string[] args)
    {
        using var cache = CairnHybridCache.Create(new CairnHybridCacheOptions().UseStoreFile(args[0], file => file.FlushOnClose = false));
        string value = cache.GetOrCreateAsync(args[1], _ =>
        {
            Console.WriteLine("making");
            Console.ReadLine();
            return new ValueTask<string>(args[2]);
        }).AsTask().GetAwaiter().GetResult();
        Console.WriteLine(value);
        Console.ReadLine();
    }

    private static string OutcomeOf(Func<Task> work)
    {
        try
        {
            work().GetAwaiter().GetResult();
            return "done";
        }
#pragma warning disable CA1031 // The test says what it was.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            return fault.ToString().ReplaceLineEndings(" | ");
        }
    }
}
