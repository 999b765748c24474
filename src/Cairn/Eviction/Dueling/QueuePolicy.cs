namespace Cairn.Eviction.Dueling;

/// <summary>How a cache with the queues of S3-FIFO chooses what it evicts. The first level, the store and <see cref="ShadowCache"/> follow it.</summary>
/// <param name="Name">The name in statistics, metrics and on the dashboard.</param>
/// <param name="SmallPercent">The share of the small queue, in percent of the entries or of the bytes.</param>
/// <param name="UsesForMain">The uses in the small queue that bring an entry into the main queue.</param>
internal sealed record QueuePolicy(string Name, int SmallPercent, int UsesForMain)
{
    /// <summary>The maximum number of uses of an entry that are counted, as in S3-FIFO.</summary>
    public const int MaxFrequency = 3;

    /// <summary>
    /// The number of evictions after which a key that returns does not enter the main queue directly any more, as a multiple of the main queue's
    /// entries. 0 if every key that returns enters the small queue.
    /// </summary>
    public int GhostsPerMainEntry { get; init; }

    /// <summary>Whether evictions from the main queue are remembered too.</summary>
    public bool RemembersMain { get; init; }

    /// <summary>Whether an entry that leaves the small queue competes with the next victim of the main queue by frequency of use.</summary>
    public bool ComparesFrequency { get; init; }

    /// <summary>
    /// The entry of the small queue must have more than this many uses more than the victim. Without a margin, the keys of a loop replace each
    /// other, because the ones that were requested last have one use more.
    /// </summary>
    public int Margin { get; init; }

    /// <summary>
    /// Whether the queues approximate the order of last use: a used entry returns to the small queue, an unused one moves to the main queue, and the
    /// main queue evicts. An entry is evicted when it was not used for between one and one and a half capacities, where LRU waits for one.
    /// </summary>
    public bool OrdersByUse { get; init; }

    /// <summary>The candidates of the duel. Another one takes over when it has proved to be better.</summary>
    public static IReadOnlyList<QueuePolicy> Candidates { get; } =
    [
        new("s3-fifo", SmallPercent: 10, UsesForMain: 2) { GhostsPerMainEntry = 2 },
        new("recency", SmallPercent: 50, UsesForMain: 1) { OrdersByUse = true },
        new("frequency", SmallPercent: 1, UsesForMain: 2) { ComparesFrequency = true, Margin = 1 },
        new("promotion", SmallPercent: 5, UsesForMain: 1) { GhostsPerMainEntry = 2, RemembersMain = true },
        new("frequency-eager", SmallPercent: 1, UsesForMain: 2) { ComparesFrequency = true },
        new("recency-protected", SmallPercent: 50, UsesForMain: 1) { GhostsPerMainEntry = 1 },
    ];

    /// <summary>
    /// The candidate that rules first in a cache of few entries, where the duel has evidence soon. It keeps what it has. If another one takes over, each
    /// key costs one miss. If a policy that evicts in order rules first, the keys of a loop have been evicted when this one takes over.
    /// </summary>
    public static QueuePolicy FirstOfSmall => Candidates[2];

    /// <summary>The candidate that rules first in other caches.</summary>
    public static QueuePolicy First => Candidates[3];

    /// <summary>Returns the room of the small queue in a cache with the given room. At least 1.</summary>
    public long SmallOf(long room) => Math.Max(1, (long)((Int128)room * SmallPercent / 100));

    /// <summary>Returns the number of evictions that are remembered while there are the given number of entries.</summary>
    public int GhostSpan(int entries) => Math.Max(1, GhostsPerMainEntry) * Math.Max(1, entries - (int)SmallOf(entries));
}
