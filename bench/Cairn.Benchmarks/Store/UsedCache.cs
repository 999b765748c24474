namespace Cairn.Benchmarks.Store;

// A cache that has been in use: keys came in any order, and values have been replaced since. Just filled, front to back,
// an object heap has key, value and node of an entry side by side, in one or two cache lines, and keeps that order through
// every collection; no cache stays that way. All contenders that hold entries in memory are filled by this.
internal static class UsedCache
{
    private const int InsertSeed = 101;
    private const int ReplaceSeed = 102;

    /// <summary>Calls <paramref name="set"/> for every number below <paramref name="entries"/> in random order, and again in another.</summary>
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
