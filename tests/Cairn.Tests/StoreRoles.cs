using System.Diagnostics;
using System.Globalization;
using System.Text;
using Cairn.Concurrency;
using Cairn.Steps;
using Cairn.Tests.Platform;

namespace Cairn.Tests;

/// <summary>Implements the roles of child processes in store tests.</summary>
internal static class StoreRoles
{
    /// <summary>
    /// PATH KEYS: opens the store and prints "open". After a line of input pins the values of the keys, prints their number, and keeps the pins
    /// until the input ends.
    /// </summary>
    public static void HoldPins(string[] args)
    {
        using var store = CairnStore.Open(new StoreOptions { Path = args[0] });
        Console.WriteLine("open");
        Console.ReadLine();
        var pins = new List<PinnedValue>();
        foreach (string key in args[1..])
        {
            if (store.DefaultCollection.TryPin(key, out PinnedValue? pinned))
            {
                pins.Add(pinned);
            }
        }

        Console.WriteLine(pins.Count);
        Console.ReadLine();
        pins.ForEach(pinned => pinned.Dispose());
    }

    /// <summary>PATH KEYS: holds every partition, sets the keys, prints "holding", and keeps the partitions until the input ends.</summary>
    public static void HoldPartitions(string[] args)
    {
        using CairnStore store = CairnStore.Open(new StoreOptions { Path = args[0], FlushOnClose = false });
        var hold = new PartitionHold(store.PartitionCount);
        hold.AddAll();
        if (!store.Engine.TryHold(hold))
        {
            Console.WriteLine("busy");
            return;
        }

        foreach (string key in args[1..])
        {
            store.DefaultCollection.Set(key, "held"u8);
        }

        Console.WriteLine("holding");
        Console.ReadLine();
        store.Engine.EndHold(hold);
    }

    /// <summary>PATH NAME COUNT: opens the encrypted store, sets COUNT keys that begin with NAME, and prints the number.</summary>
    public static void WriteEncrypted(string[] args)
    {
        using CairnStore store = CairnStore.Open(
            OptionsFor(args[0]) with { Encryption = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes)) });
        int count = int.Parse(args[2], CultureInfo.InvariantCulture);
        for (int i = 0; i < count; i++)
        {
            store.DefaultCollection.Set($"{args[1]}:{i}", "value"u8);
        }

        Console.WriteLine("written");
    }

    /// <summary>PATH: opens the store, prints "opened", and performs each line of input: set KEY VALUE, get KEY.</summary>
    public static void HoldStore(string[] args)
    {
        using CairnStore store = CairnStore.Open(OptionsFor(args[0]));
        Console.WriteLine("opened");
        while (Console.ReadLine() is { } line)
        {
            string[] words = line.Split(' ');
            Console.WriteLine(words[0] == "set"
                ? $"{store.DefaultCollection.Set(words[1], Encoding.UTF8.GetBytes(words[2]))}"
                : store.DefaultCollection.GetString(words[1]) ?? "none");
        }
    }

    /// <summary>PATH KEY: requests the lease of the key, prints the result, and keeps the lease until the input ends.</summary>
    public static void HoldLease(string[] args)
    {
        CairnStore store = CairnStore.Open(OptionsFor(args[0]) with { TimeProvider = new ManualClock() });
        Console.WriteLine(store.DefaultCollection.AcquireLease(args[1], TimeSpan.Zero, out _));
        Console.ReadLine();
    }

    /// <summary>
    /// PATH STEP: works on the store until a protocol reaches the step, prints "dying" and is killed there.
    /// </summary>
    public static void DieAt(string[] args)
    {
        ProtocolStep step = Enum.Parse<ProtocolStep>(args[1]);
        var random = new Random(1);
        using CairnStore store = CairnStore.Open(OptionsFor(args[0]));
        ProtocolHook.Handler = reached =>
        {
            if (reached == step)
            {
                Console.WriteLine("dying");
                Process.GetCurrentProcess().Kill();
                Thread.Sleep(Timeout.Infinite);
            }
        };
        for (int i = 0; ; i++)
        {
            store.DefaultCollection.Set($"key:{random.Next(10_000)}", new byte[i % 50 == 0 ? random.Next(100_000, 300_000) : random.Next(2_000)]);
            store.DefaultCollection.Get($"key:{random.Next(10_000)}");
        }
    }

    /// <summary>
    /// PATH MOST LIMIT: opens a store that may grow to MOST bytes, limits the file size to LIMIT bytes, and writes more than the limit. Prints how
    /// many values are right, how many were evicted, the length of the file, and the reason why it did not grow.
    /// </summary>
    public static void GrowWithLimit(string[] args)
    {
        long most = long.Parse(args[1], CultureInfo.InvariantCulture);
        ulong limit = ulong.Parse(args[2], CultureInfo.InvariantCulture);
        using CairnStore store = CairnStore.Open(OptionsFor(args[0]) with { MaxCapacityBytes = most });
        PlatformRoles.LimitFileSize(limit);
        int written = (int)(most / 2_000);
        for (int i = 0; i < written; i++)
        {
            store.DefaultCollection.Set($"{i}", TestBytes.Of(2_000, seed: i));
        }

        int found = Enumerable.Range(0, written).Count(i => store.DefaultCollection.Get($"{i}") is { } value && value.AsSpan().SequenceEqual(TestBytes.Of(2_000, seed: i)));
        StoreStatistics statistics = store.GetStatistics();
        Console.WriteLine($"{found} {written - statistics.Totals.Evictions} {statistics.FileBytes}");
        Console.WriteLine(statistics.GrowthFailure);
    }

    // Prints "open", or why the store does not open. Then waits for a line, and reads, removes and sets entries.
    public static void UseSparseCopy(string[] args)
    {
        CairnStore store;
        try
        {
            store = CairnStore.Open(OptionsFor(args[0]) with { FlushOnClose = true });
        }
        catch (StoreException refused)
        {
            Console.WriteLine(refused.Message);
            return;
        }

        Console.WriteLine("open");
        Console.ReadLine();
        Console.WriteLine(Enumerable.Range(0, 500).Count(i => store.DefaultCollection.Get($"{i}") is { Length: 2_000 }));
        for (int i = 0; i < 5_000; i++)
        {
            store.DefaultCollection.Remove($"{i / 2}");
            store.DefaultCollection.Set($"new {i}", TestBytes.Of(2_000, seed: i));
        }

        store.Dispose();
    }

    private static StoreOptions OptionsFor(string path) =>
        new() { Path = path, CapacityBytes = StoreDirectory.SmallCapacityBytes, FlushOnClose = false };
}
