using Cairn.Engine;

namespace Cairn.Analysis;

/// <summary>Visits the entries of a store.</summary>
/// <param name="visitor">Receives each entry.</param>
/// <param name="isEnough">
/// Called from time to time with the number of visited buckets. The visit stops if it returns true. Null visits all buckets.
/// </param>
/// <param name="cancellationToken">Ends the visit.</param>
/// <returns>The part of the index that was visited, 0 to 1.</returns>
internal delegate double EntryWalk(EntryVisitor visitor, Func<long, bool>? isEnough, CancellationToken cancellationToken);

/// <summary>The options of a key space analysis.</summary>
internal sealed record AnalysisRequest
{
    /// <summary>The number of the longest entries in the result.</summary>
    public int BiggestCount { get; init; }

    /// <summary>The prefix of the keys that count. Empty for all keys.</summary>
    public byte[] Prefix { get; init; } = [];

    /// <summary>True to count only the default collection.</summary>
    public bool IsOwnCollectionOnly { get; init; }

    /// <summary>The maximum time. The analysis of a large store ends after it, with the result for the part of the index that was read.</summary>
    public TimeSpan MaxTime { get; init; } = Timeout.InfiniteTimeSpan;
}

/// <summary>Entries that expire at similar times.</summary>
/// <param name="WithinSeconds">
/// The entries expire within this time in seconds. <see cref="long.MaxValue"/> for later times; -1 for entries that do not expire.
/// </param>
/// <param name="Entries">The number of these entries.</param>
/// <param name="ValueBytes">The size of their values in bytes.</param>
internal readonly record struct LifeBin(long WithinSeconds, long Entries, long ValueBytes);

/// <summary>The result of one visit to every entry of a store.</summary>
/// <param name="Biggest">The longest entries, longest first.</param>
/// <param name="Sizes">The lengths of the values.</param>
/// <param name="Lives">The remaining lifetimes of the entries.</param>
/// <param name="Searched">
/// The part of the index that was read, 0 to 1. The hash of a key determines its place in the index, so any part of the index is a random sample.
/// </param>
internal sealed record KeySpaceAnalysis(IReadOnlyList<EntrySize> Biggest, SizeHistogram Sizes, IReadOnlyList<LifeBin> Lives, double Searched)
{
    private const int PowersOfTwo = 33;

    // A small store is always counted completely, even on a busy machine: a full index of this many buckets takes about 25 ms.
    private const long MinBuckets = 16_384;

    private static readonly long[] s_lives = [60, 3_600, 86_400, 7 * 86_400, long.MaxValue, -1];

    /// <summary>Reads the whole index, or as much as the given time allows. Other operations continue meanwhile.</summary>
    /// <param name="walk">Visits the entries of the store.</param>
    /// <param name="names">The names of the store's collections by their numbers.</param>
    /// <param name="clock">The source of time.</param>
    /// <param name="request">The options of the analysis.</param>
    /// <param name="cancellationToken">Ends the analysis.</param>
    public static KeySpaceAnalysis Take(
        EntryWalk walk, IReadOnlyList<string> names, TimeProvider clock, AnalysisRequest request, CancellationToken cancellationToken)
    {
        var biggest = new PriorityQueue<EntrySize, int>();
        var counts = new long[PowersOfTwo];
        var sums = new long[PowersOfTwo];
        var livesCounts = new long[s_lives.Length];
        var livesSums = new long[s_lives.Length];
        long nowMs = clock.GetUtcNow().ToUnixTimeMilliseconds();
        long began = Stopwatch.GetTimestamp();
        double searched = walk(
            Visit, request.MaxTime == Timeout.InfiniteTimeSpan ? null : IsEnough, cancellationToken);
        SizeBin[] bins =
        [
            .. Enumerable.Range(0, PowersOfTwo)
                .Where(bin => counts[bin] > 0)
                .Select(bin => new SizeBin(bin == 0 ? 0 : 1L << (bin - 1), (1L << bin) - 1, counts[bin], sums[bin])),
        ];
        return new KeySpaceAnalysis(
            [.. biggest.UnorderedItems.Select(item => item.Element).OrderByDescending(entry => entry.ValueBytes)],
            new SizeHistogram(bins, counts.Sum(), sums.Sum()),
            [.. s_lives.Select((within, i) => new LifeBin(within, livesCounts[i], livesSums[i]))],
            searched);

        bool IsEnough(long buckets) => buckets >= MinBuckets && Stopwatch.GetElapsedTime(began) >= request.MaxTime;

        void Visit(ReadOnlySpan<byte> key, in EntryInfo info, uint collection)
        {
            if ((request.IsOwnCollectionOnly && collection != 0) || !key.StartsWith(request.Prefix))
            {
                return;
            }

            int bin = PowersOfTwo - 1 - BitOperations.LeadingZeroCount((uint)info.ValueBytes);
            counts[bin]++;
            sums[bin] += info.ValueBytes;
            int life = LifeOf(info.DeadlineUnixMs, nowMs);
            livesCounts[life]++;
            livesSums[life] += info.ValueBytes;
            if (biggest.Count < request.BiggestCount)
            {
                biggest.Enqueue(new EntrySize(NameOf(collection), key.ToArray(), info.ValueBytes), info.ValueBytes);
            }
            else if (request.BiggestCount > 0 && biggest.Peek().ValueBytes < info.ValueBytes)
            {
                biggest.EnqueueDequeue(new EntrySize(NameOf(collection), key.ToArray(), info.ValueBytes), info.ValueBytes);
            }
        }

        string NameOf(uint collection) => collection < names.Count ? names[(int)collection] : string.Empty;
    }

    private static int LifeOf(long deadlineUnixMs, long nowMs)
    {
        if (deadlineUnixMs == long.MaxValue)
        {
            return s_lives.Length - 1;
        }

        long seconds = Math.Max(0, deadlineUnixMs - nowMs) / 1000;
        int life = 0;
        while (s_lives[life] < seconds)
        {
            life++;
        }

        return life;
    }
}
