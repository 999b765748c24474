namespace Cairn.Benchmarks.Store;

// A cache that has been in use: keys were added in random order, and values have been replaced since. In a newly filled object heap, key, value and
// node of an entry are adjacent, in one or two cache lines. They stay adjacent in every collection. A cache in use does not stay that way. This
// class fills all contenders that hold entries in memory.
internal static class UsedCache
{
    private const int InsertSeed = 101;
    private const int ReplaceSeed = 102;

    /// <summary>Calls <paramref name="set"/> for every number below <paramref name="entries"/> in random order, then in another order.</summary>
    public static void Fill(int entries, Action<int> set)
    {
        var numbers = new int[entries];
        for (var i = 0; i < entries; i++)
        {
            numbers[i] = i;
        }

        foreach (var seed in new[] { InsertSeed, ReplaceSeed })
        {
            new Random(seed).Shuffle(numbers);
            foreach (var number in numbers)
            {
                set(number);
            }
        }
    }
}
