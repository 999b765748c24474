using System.Diagnostics;
using System.Globalization;
using Cairn.Concurrency;
using Cairn.Platform;

namespace Cairn.TortureTests.Kills;

/// <summary>What the other processes of a test of the log do.</summary>
internal static class LogRoles
{
    private const long CapacityBytes = 2L << 20;

    public static StoreOptions OptionsFor(string directory) => new()
    {
        Path = Path.Combine(directory, "store.cairn"),
        CapacityBytes = CapacityBytes,
        FlushOnClose = false,
        LogFileBytes = StoreOptions.SmallestLogFileBytes,
        CheckpointsByItself = false,
    };

    /// <summary>DIRECTORY SEED STEP NTH: writes to logged collections; kills itself when the step is reached for the n-th time.</summary>
    public static void Victim(string[] args)
    {
        var random = new Random(int.Parse(args[1], CultureInfo.InvariantCulture));
        ProtocolStep step = Enum.Parse<ProtocolStep>(args[2]);
        int left = int.Parse(args[3], CultureInfo.InvariantCulture);
        ProtocolHook.Handler = reached =>
        {
            if (reached == step && Interlocked.Decrement(ref left) == 0)
            {
                Console.WriteLine("dying");
                Process.GetCurrentProcess().Kill();

                // The signal is on its way: no step follows.
                Thread.Sleep(Timeout.Infinite);
            }
        };
        bool isRestarted = CheckpointDeathTests.Rebuilding.Contains(step);
        bool makesSnapshots = CheckpointDeathTests.Saving.Contains(step);
        StorePlatform.BootIdOverride = isRestarted ? Guid.NewGuid().ToString() : null;
        using CairnStore store = CairnStore.Open(OptionsFor(args[0]) with { TakesAnySlot = true });
        using var work = new LogWork(store, args[0]);
        if (step == ProtocolStep.LogWaiting)
        {
            // Somebody must wait for another.
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

        Console.WriteLine($"never reached: {left} more");
    }
}
