using Cairn.Concurrency;

namespace Cairn.Caching.Tests.Levels;

/// <summary>Implements the roles of child processes in tests of store levels.</summary>
internal static class StoreLevelRoles
{
    /// <summary>PATH NAME KEY: requests the lease of the key, prints the result, and keeps the lease until the input ends.</summary>
    public static void HoldLease(string[] args)
    {
        CairnStore store = CairnStore.Open(OptionsFor(args[0]));
        Console.WriteLine(store.Collection(args[1]).AcquireLease(args[2], TimeSpan.Zero, out _));
        Console.ReadLine();
    }

    /// <summary>PATH: opens the store and prints "opened"; takes all its locks at a line of input, prints "holding", and
    /// releases them at the next line.</summary>
    public static void HoldLocks(string[] args)
    {
        using CairnStore store = CairnStore.Open(OptionsFor(args[0]));
        var hold = new PartitionHold(store.PartitionCount);
        hold.AddAll();
        Console.WriteLine("opened");
        Console.ReadLine();
        Console.WriteLine(store.Engine.TryHold(hold) ? "holding" : "busy");
        Console.ReadLine();
        store.Engine.EndHold(hold);
        Console.WriteLine("released");
        Console.ReadLine();
    }

    private static StoreOptions OptionsFor(string path) =>
        new() { Path = path, CapacityBytes = StoreDirectory.SmallCapacityBytes, FlushOnClose = false };
}
