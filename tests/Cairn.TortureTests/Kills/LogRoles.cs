using System.Diagnostics;
using System.Globalization;
using Cairn.Platform;
using Cairn.Steps;

namespace Cairn.TortureTests.Kills;

/// <summary>Implements the roles of child processes in tests of the log.</summary>
internal static class LogRoles
{
    private const long CapacityBytes = 2L << 20;

    public static StoreOptions OptionsFor(string directory) => new()
    {
        Path = Path.Combine(directory, "store.cairn"),
        CapacityBytes = CapacityBytes,
        FlushOnClose = false,
        LogFileBytes = StoreLimits.MinLogFileBytes,
        CheckpointsByItself = false,
    };

    /// <summary>Opens the store. If <paramref name="isRestarted"/>, opens it as on a machine that has restarted since.</summary>
    public static CairnStore OpenOn(string directory, bool isRestarted)
    {
        StorePlatform.BootIdOverride = isRestarted ? Guid.NewGuid().ToString() : null;
        try
        {
            return CairnStore.Open(OptionsFor(directory));
        }
        finally
        {
            StorePlatform.BootIdOverride = null;
        }
    }

    /// <summary>Returns the path of the backup of the store in a directory.</summary>
    public static string BackupOf(string directory) => Path.Combine(directory, "store.backup");

    /// <summary>Returns the options of the store that is restored from the backup.</summary>
    public static StoreOptions RestoredIn(string directory) => OptionsFor(directory) with { Path = Path.Combine(directory, "restored.cairn") };

    /// <summary>
    /// DIRECTORY SEED STEP NTH: creates backups while it writes to logged collections. Kills itself when it reaches the step for the n-th time. Without a
    /// step, kills itself when the copying reports progress for the n-th time.
    /// </summary>
    public static void BackupVictim(string[] args)
    {
        var random = new Random(int.Parse(args[1], CultureInfo.InvariantCulture));
        IProgress<StoreProgress> death = DieAt(args);
        using CairnStore store = CairnStore.Open(OptionsFor(args[0]) with { TakesAnySlot = true });
        using var work = new LogWork(store, args[0]);
        new Thread(() =>
        {
            while (true)
            {
                work.DoNext(random);
            }
        }) { IsBackground = true }.Start();
        for (int i = 0; i < 1_000; i++)
        {
            store.Backup(BackupOf(args[0]), progress: death);
        }

        Console.WriteLine("never reached");
    }

    /// <summary>DIRECTORY SEED STEP NTH: creates a store from the backup. Kills itself as <see cref="BackupVictim"/> does.</summary>
    public static void RestoreVictim(string[] args)
    {
        IProgress<StoreProgress> death = DieAt(args);
        StoreMaintenance.Restore(BackupOf(args[0]), RestoredIn(args[0]), death);
        Console.WriteLine("never reached");
    }

    /// <summary>DIRECTORY SEED STEP NTH: writes to logged collections. Kills itself when it reaches the step for the n-th time.</summary>
    public static void Victim(string[] args)
    {
        var random = new Random(int.Parse(args[1], CultureInfo.InvariantCulture));
        ProtocolStep step = Enum.Parse<ProtocolStep>(args[2]);
        DieAt(args);
        bool isRestarted = CheckpointDeathTests.Rebuilding.Contains(step);
        bool makesSnapshots = CheckpointDeathTests.Saving.Contains(step);
        StorePlatform.BootIdOverride = isRestarted ? Guid.NewGuid().ToString() : null;
        using CairnStore store = CairnStore.Open(OptionsFor(args[0]) with { TakesAnySlot = true });
        using var work = new LogWork(store, args[0]);
        if (step == ProtocolStep.LogWaiting)
        {
            // One thread must wait for another.
            CairnCollection waiting = store.Collection("first");
            new Thread(() =>
            {
                while (true)
                {
                    waiting.Set("waiting", [1]);
                }
            }) { IsBackground = true }.Start();
        }

        for (int i = 0; i < 20_000; i++)
        {
            work.DoNext(random);
            if (makesSnapshots && random.Next(100) == 0)
            {
                store.Checkpoint();
            }
        }

        Console.WriteLine("never reached");
    }

    private static DeathInProgress DieAt(string[] args)
    {
        ProtocolStep step = Enum.Parse<ProtocolStep>(args[2]);
        var death = new DeathInProgress(int.Parse(args[3], CultureInfo.InvariantCulture));
        if (step == ProtocolStep.None)
        {
            return death;
        }

        ProtocolHook.Handler = reached =>
        {
            if (reached == step)
            {
                death.Reach();
            }
        };
        return new DeathInProgress(int.MaxValue);
    }

    private sealed class DeathInProgress(int left) : IProgress<StoreProgress>
    {
        private int _left = left;

        public void Report(StoreProgress value) => Reach();

        public void Reach()
        {
            if (Interlocked.Decrement(ref _left) == 0)
            {
                Console.WriteLine("dying");
                Process.GetCurrentProcess().Kill();

                // The signal has been sent: no further step follows.
                Thread.Sleep(Timeout.Infinite);
            }
        }
    }
}
