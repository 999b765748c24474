using System.Globalization;
using Cairn.Caching;

namespace Cairn.TortureTests.Hybrid;

/// <summary>The settings that all caches of one run share. Processes receive them as arguments.</summary>
/// <param name="Directory">The directory of the store and the journals.</param>
/// <param name="Seed">The seed of the flows' random numbers.</param>
/// <param name="Milliseconds">The duration of the work.</param>
/// <param name="HotKeys">The number of keys that most operations use.</param>
/// <param name="LocalMaxEntries">The maximum number of entries in the first levels.</param>
internal sealed record HybridRun(string Directory, int Seed, int Milliseconds, int HotKeys, int LocalMaxEntries = 100_000)
{
    /// <summary>The number of flows of each cache.</summary>
    public const int Flows = 3;

    private const int OperationsAtMost = 40_000;

    // Large enough that nothing is evicted: eviction of a lease would let factories run at the same time.
    private const long CapacityBytes = 64L << 20;

    // Longer than a process waits for a processor among the processes of other tests.
    private static readonly TimeSpan LockTimeout = TimeSpan.FromSeconds(30);

    public StoreOptions Store => new()
    {
        Path = Path.Combine(Directory, "store.cairn"),
        CapacityBytes = CapacityBytes,
        LockTimeout = LockTimeout,
        FlushOnClose = false,
    };

    public int JournalCapacity => OperationsAtMost + (2 * HybridKeys.Count);

    public string JournalOf(int worker, int flow) => Path.Combine(Directory, string.Create(CultureInfo.InvariantCulture, $"{worker}-{flow}.journal"));

    public CairnHybridCacheOptions OptionsOf(CairnStore store) => new()
    {
        LocalMaxEntries = LocalMaxEntries,
        StoreFile = new CairnStoreFileOptions { Store = store },
    };

    public string[] ToArguments() =>
        [Directory, .. new[] { Seed, Milliseconds, HotKeys, LocalMaxEntries }.Select(number => number.ToString(CultureInfo.InvariantCulture))];

    public static HybridRun Parse(string[] arguments)
    {
        int[] numbers = [.. arguments[1..5].Select(number => int.Parse(number, CultureInfo.InvariantCulture))];
        return new HybridRun(arguments[0], numbers[0], numbers[1], numbers[2], numbers[3]);
    }
}
