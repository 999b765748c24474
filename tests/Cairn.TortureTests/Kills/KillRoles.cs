using System.Diagnostics;
using System.Globalization;
using Cairn.Platform;
using Cairn.Steps;

namespace Cairn.TortureTests.Kills;

/// <summary>The task that a victim performs until it dies.</summary>
internal enum VictimTask
{
    /// <summary>Reads and writes.</summary>
    Work,

    /// <summary>Reads and writes many long values that are shorter than a segment.</summary>
    WriteGaps,

    /// <summary>Works briefly, closes the store, and opens it again.</summary>
    Reopen,

    /// <summary>Works briefly, closes the store, and opens it again as after a restart of the machine.</summary>
    ReopenAfterRestart,

    /// <summary>Writes while another of its threads holds the lock.</summary>
    WriteWithoutLock,
}

/// <summary>Implements the roles of child processes in kill tests.</summary>
internal static class KillRoles
{
    /// <summary>A boot id that differs from that of every machine.</summary>
    private const string AnotherBoot = "11111111-2222-3333-4444-555555555555";

    private const int OperationsPerOpening = 40;

    private const int OperationsBeforeLock = 1_000;

    /// <summary>The number of operations after which a victim gives up if it has not died.</summary>
    private const int MostOperations = 100_000;

    /// <summary>
    /// DIRECTORY WORKERS SEED TASK STEP NTH: opens the store, prints "open", and performs its task after a line of input. When a protocol reaches
    /// the step for the n-th time, it prints "dying" and kills itself there.
    /// </summary>
    public static void Victim(string[] args)
    {
        KillRun run = KillRun.Parse(args[0], args[1]);
        var random = new Random(int.Parse(args[2], CultureInfo.InvariantCulture));
        VictimTask task = Enum.Parse<VictimTask>(args[3]);
        ProtocolStep step = Enum.Parse<ProtocolStep>(args[4]);
        int left = int.Parse(args[5], CultureInfo.InvariantCulture);
        ProtocolHook.Handler = reached =>
        {
            if (reached == step && Interlocked.Decrement(ref left) == 0)
            {
                Die();
            }
        };
        NoteFaults(run, () =>
        {
            using KillJournal journal = run.OpenJournal();
            if (task == VictimTask.ReopenAfterRestart)
            {
                StorePlatform.BootIdOverride = AnotherBoot;
            }

            var options = new StoreOptions
            {
                Path = run.StorePath,
                LockTimeout = task == VictimTask.WriteWithoutLock ? TimeSpan.FromMilliseconds(10) : TimeSpan.FromSeconds(1),
                FlushOnClose = task is VictimTask.Reopen or VictimTask.ReopenAfterRestart,
                OpenMode = StoreOpenMode.OpenExisting,
                TakesAnySlot = true,
            };
            CairnStore store = CairnStore.Open(options);
            Console.WriteLine("open");
            Console.ReadLine();
            EndWithInput();
            KillSizes sizes = task == VictimTask.WriteGaps ? KillSizes.Gaps : KillSizes.Runs;
            var work = new KillWork(store, journal, worker: 1, random, sizes);
            if (task == VictimTask.WriteWithoutLock)
            {
                for (int i = 0; i < OperationsBeforeLock; i++)
                {
                    work.DoNext(); // Creates values that can be retracted.
                }

                KeepLock(new KillWork(store, journal, worker: 2, new Random(1), sizes), ProtocolHook.Handler!);
                while (true)
                {
                    work.Set(work.RandomOwnKey());
                }
            }

            for (int i = 1; i <= MostOperations; i++)
            {
                work.DoNext();
                if (i % OperationsPerOpening == 0 && task is VictimTask.Reopen or VictimTask.ReopenAfterRestart)
                {
                    store.Dispose();
                    store = CairnStore.Open(options);
                    work = new KillWork(store, journal, worker: 1, random, sizes);
                }
            }

            store.Dispose();
            Console.WriteLine($"never reached: {left} more");
        });
    }

    /// <summary>DIRECTORY WORKERS SEED WORKER: works on its keys until it is killed. Worker 0 only reads: its keys are the test's own.</summary>
    public static void Worker(string[] args)
    {
        KillRun run = KillRun.Parse(args[0], args[1]);
        var random = new Random(int.Parse(args[2], CultureInfo.InvariantCulture));
        int worker = int.Parse(args[3], CultureInfo.InvariantCulture);
        NoteFaults(run, () =>
        {
            using KillJournal journal = run.OpenJournal();
            using CairnStore store = CairnStore.Open(new StoreOptions { Path = run.StorePath, FlushOnClose = false });
            var work = new KillWork(store, journal, worker, random, KillSizes.Runs);
            EndWithInput();
            Console.WriteLine("working");
            while (true)
            {
                if (worker == 0)
                {
                    work.ReadNext();
                }
                else
                {
                    work.DoNext();
                }
            }
        });
    }

    private static void Die()
    {
        Console.WriteLine("dying");
        Process.GetCurrentProcess().Kill();

        // The signal has been sent: no further step follows.
        Thread.Sleep(Timeout.Infinite);
    }

    private static void KeepLock(KillWork work, Action<ProtocolStep> handler)
    {
        using var isTaken = new ManualResetEventSlim();
        int keeper = 0;
        ProtocolHook.Handler = reached =>
        {
            if (reached == ProtocolStep.LockTaken && Environment.CurrentManagedThreadId == Volatile.Read(ref keeper))
            {
                isTaken.Set();
                Thread.Sleep(Timeout.Infinite);
            }

            handler(reached);
        };
        new Thread(() =>
        {
            Volatile.Write(ref keeper, Environment.CurrentManagedThreadId);
            work.Set(work.RandomOwnKey());
        }) { IsBackground = true }.Start();
        isTaken.Wait();
    }

    // Ends the process with its input, so that it does not outlive the test run.
    private static void EndWithInput() => new Thread(() =>
    {
        while (Console.In.ReadLine() is not null)
        {
        }

        Process.GetCurrentProcess().Kill();
    }) { IsBackground = true }.Start();

    private static void NoteFaults(KillRun run, Action action)
    {
        try
        {
            action();
        }
#pragma warning disable CA1031 // Reports any exception to the test, which then fails.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            run.Note($"Process {Environment.ProcessId}: {fault}");
            throw;
        }
    }
}
