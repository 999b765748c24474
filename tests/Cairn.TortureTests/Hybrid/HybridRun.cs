using System.Globalization;
using Cairn.Caching;

namespace Cairn.TortureTests.Hybrid;

/// <summary>What the caches of one run have in common; passed to processes as arguments.</summary>
/// <param name="Directory">Where the store and the journals are.</param>
/// <param name="Seed">What the flows' randomness begins with.</param>
/// <param name="Milliseconds">How long they work.</param>
/// <param name="HotKeys">About how many keys most operations are.</param>
/// <param name="LocalMaxEntries">The size of the first levels.</param>
internal sealed record HybridRun(string Directory, int Seed, int Milliseconds, int HotKeys, int LocalMaxEntries = 100_000)
{
    /// <summary>Flows of each cache.</summary>
    public const int Flows = 3;

    private const int OperationsAtMost = 40_000;

    // Nothing is evicted: a lease that was would let factories run at the same time.
    private const long CapacityBytes = 64L << 20;

    // Longer than it takes to be given a processor among the processes of other tests.
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
