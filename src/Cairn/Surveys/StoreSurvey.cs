using System.Diagnostics;
using System.Numerics;
using Cairn.Engine;

namespace Cairn.Surveys;

/// <summary>Goes over the entries of a store.</summary>
/// <param name="visitor">Takes each entry.</param>
/// <param name="isEnough">Asked now and then whether so many buckets are enough; null to visit all.</param>
/// <param name="cancellationToken">Ends it.</param>
/// <returns>The part of the index that was visited, 0 to 1.</returns>
internal delegate double EntryWalk(EntryVisitor visitor, Func<long, bool>? isEnough, CancellationToken cancellationToken);

/// <summary>What a survey looks for.</summary>
internal sealed record SurveyRequest
{
    /// <summary>How many of the longest entries are listed.</summary>
    public int BiggestCount { get; init; }

    /// <summary>What keys must begin with to count; empty for all.</summary>
    public byte[] Prefix { get; init; } = [];

    /// <summary>Whether only the store's own collection counts.</summary>
    public bool IsOwnCollectionOnly { get; init; }

    /// <summary>The survey of a large store ends after this time, with the part of the index that it has read by then.</summary>
    public TimeSpan MaxTime { get; init; } = Timeout.InfiniteTimeSpan;
}

/// <summary>Entries that expire at similar times.</summary>
/// <param name="WithinSeconds">They expire within this time; <see cref="long.MaxValue"/> for later; -1 for those that do not expire.</param>
/// <param name="Entries">How many there are.</param>
/// <param name="ValueBytes">Bytes of their values.</param>
internal readonly record struct LifeBin(long WithinSeconds, long Entries, long ValueBytes);

/// <summary>What one look at every entry of a store has found.</summary>
/// <param name="Biggest">The longest entries, longest first.</param>
/// <param name="Sizes">How long the values are.</param>
/// <param name="Lives">How long the entries still live.</param>
/// <param name="Searched">The part of the index that was read, 0 to 1. Keys lie in it by their hash: any part of it is a random sample.</param>
internal sealed record StoreSurvey(IReadOnlyList<EntrySize> Biggest, SizeHistogram Sizes, IReadOnlyList<LifeBin> Lives, double Searched)
{
    private const int PowersOfTwo = 33;

    // Small stores are always counted exactly, however busy the machine is: a full index of so many buckets takes about 25 ms.
    private const long MinBuckets = 16_384;

    private static readonly long[] s_lives = [60, 3_600, 86_400, 7 * 86_400, long.MaxValue, -1];

    /// <summary>Reads the whole index, or what it can in the time given. Other operations go on meanwhile.</summary>
    /// <param name="walk">Goes over the entries of the store.</param>
    /// <param name="names">The names of its collections by their numbers.</param>
    /// <param name="clock">Its source of time.</param>
    /// <param name="request">What to look for.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public static StoreSurvey Take(
        EntryWalk walk, IReadOnlyList<string> names, TimeProvider clock, SurveyRequest request, CancellationToken cancellationToken)
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
        return new StoreSurvey(
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
