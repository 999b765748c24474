using Cairn.Steps;
using Cairn.TortureTests.Histories;

namespace Cairn.TortureTests.Workloads;

/// <summary>A process that works on a store until its work is done, and can stop at a step.</summary>
internal static class WorkerRole
{
    private static WorkerOptions s_options = null!;
    private static int s_reached;
    private static volatile bool s_isCounting;

    /// <summary>
    /// Opens the store and prints "open". After a line of input works, and prints "done" or the error. After another line closes the store.
    /// </summary>
    public static void Work(string[] arguments)
    {
        s_options = WorkerOptions.Parse(arguments);
        if (s_options.StopAt != ProtocolStep.None)
        {
            ProtocolHook.Handler = OnStep;
        }

        using CairnStore store = CairnStore.Open(s_options.StoreOptions);
        var keys = new WorkloadKeys(store, s_options.Keys, s_options.Partition);
        Console.WriteLine("open");
        Console.ReadLine();
        s_isCounting = true;
        Exception? failure = null;
        Thread[] threads = [.. Enumerable.Range(0, s_options.Threads).Select(thread => new Thread(() =>
        {
            try
            {
                WorkOn(store, keys, thread);
            }
            catch (Exception e)
            {
                failure = e;
            }
        }))];
        foreach (Thread thread in threads)
        {
            thread.Start();
        }

        foreach (Thread thread in threads)
        {
            thread.Join();
        }

        Console.WriteLine(failure is null ? "done" : failure.ToString().ReplaceLineEndings(" | "));
        Console.ReadLine();
    }

    private static void WorkOn(CairnStore store, WorkloadKeys keys, int thread)
    {
        int worker = (s_options.Worker * 16) + thread;
        int capacity = (s_options.Operations * 4) + (4 * s_options.Keys) + 64;
        using Journal journal = Journal.Create(s_options.JournalOf(thread), capacity, worker);
        var random = new Random(TortureRun.SeedOf(s_options.Seed, worker));
        var workload = new Workload(store, keys, journal, random, worker, s_options.LongestValue, s_options.IsReader);
        for (int i = 0; i < s_options.Operations && workload.MayStep; i++)
        {
            workload.Step();
        }
    }

    private static void OnStep(ProtocolStep step)
    {
        if (s_isCounting && step == s_options.StopAt && Interlocked.Increment(ref s_reached) == s_options.Reach)
        {
            ProcessSignals.StopSelf();
        }
    }
}
