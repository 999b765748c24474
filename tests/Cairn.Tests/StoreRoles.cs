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
}
