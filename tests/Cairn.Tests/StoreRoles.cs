using System.Text;

namespace Cairn.Tests;

/// <summary>What the second process of a store's test does.</summary>
internal static class StoreRoles
{
    /// <summary>
    /// PATH KEYS: opens the store and says "open"; after a line of input pins the values of the keys, says how many there are, and
    /// keeps them until the input ends.
    /// </summary>
    public static void HoldPins(string[] args)
    {
        using var store = CairnStore.Open(new StoreOptions { Path = args[0] });
        Console.WriteLine("open");
        Console.ReadLine();
        var pins = new List<PinnedValue>();
        foreach (string key in args[1..])
        {
            if (store.TryPin(key, out PinnedValue? pinned))
            {
                pins.Add(pinned);
            }
        }

        Console.WriteLine(pins.Count);
        Console.ReadLine();
        pins.ForEach(pinned => pinned.Dispose());
    }

    /// <summary>PATH: opens the store, says "opened", does what each line of input says: set KEY VALUE, get KEY.</summary>
    public static void HoldStore(string[] args)
    {
        using CairnStore store = CairnStore.Open(OptionsFor(args[0]));
        Console.WriteLine("opened");
        while (Console.ReadLine() is { } line)
        {
            string[] words = line.Split(' ');
            Console.WriteLine(words[0] == "set"
                ? $"{store.Set(words[1], Encoding.UTF8.GetBytes(words[2]))}"
                : store.GetString(words[1]) ?? "none");
        }
    }

    /// <summary>PATH KEY: asks for the lease of the key, says what came of it, keeps it until the input ends.</summary>
    public static void HoldLease(string[] args)
    {
        CairnStore store = CairnStore.Open(OptionsFor(args[0]) with { Clock = new ManualClock() });
        Console.WriteLine(store.AcquireLease(args[1], TimeSpan.Zero, out _));
        Console.ReadLine();
    }

    private static StoreOptions OptionsFor(string path) =>
        new() { Path = path, CapacityBytes = StoreDirectory.SmallCapacityBytes, FlushOnClose = false };
}
