using System.Globalization;
using Cairn.Caching;
using Cairn.Redis;
using Cairn.Redis.Tests.Servers;

namespace Cairn.TortureTests.Hybrid;

#pragma warning disable VSTHRD002 // A role is a whole process, so no other work waits for its thread.

/// <summary>Implements the roles of child processes in these tests.</summary>
internal static class HybridRoles
{
    /// <summary>
    /// WORKER RUN: prints "open". After a line of input it works and prints "done". After another line it looks up every key and prints "done". It ends
    /// with its input. If an error occurs, it prints the error instead.
    /// </summary>
    public static void Work(string[] args)
    {
        int number = int.Parse(args[0], CultureInfo.InvariantCulture);
        var run = HybridRun.Parse(args[1..]);
        using CairnStore store = CairnStore.Open(run.Store);
        using var cache = CairnHybridCache.Create(run.OptionsOf(store));
        Work(run, cache, number);
    }

    /// <summary>WORKER RUN ADDRESS KIND: the same role over a server of that kind, as a separate machine would do it.</summary>
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

    /// <summary>PATH KEY VALUE: prints "making" in the factory of the key. Creates the value after a line of input and prints the result.</summary>
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
#pragma warning disable CA1031 // The test reports the exception.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            return fault.ToString().ReplaceLineEndings(" | ");
        }
    }
}
