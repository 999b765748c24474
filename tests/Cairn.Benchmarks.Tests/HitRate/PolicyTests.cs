using Cairn.HitRate;
using Cairn.HitRate.Policies;
using Cairn.HitRate.Traces;

namespace Cairn.Benchmarks.Tests.HitRate;

public class PolicyTests
{
    private const int RandomTraces = 200;

    [Fact]
    public void Lru_evicts_the_key_used_longest_ago() =>
        Assert.Equal("..h.h..", Decisions(new LruPolicy(2, 4), [0, 1, 0, 2, 0, 1, 2]));

    // Key 0 has a mark because of its hit. When 2 arrives, 0 loses its mark and stays. The hand is then at the newest end and starts again. When 3
    // arrives, it finds 0 without a mark.
    [Fact]
    public void Sieve_spares_a_used_key_once_and_keeps_its_place_in_the_queue() =>
        Assert.Equal("..h..h.", Decisions(new SievePolicy(2, 4), [0, 1, 0, 2, 3, 3, 1]));

    [Fact]
    public void S3_fifo_lets_a_scan_pass_by_the_keys_in_its_main_queue()
    {
        int[] hot = [0, 1, 0, 1, 0, 1];
        var scan = Enumerable.Range(2, 100);

        var decisions = Decisions(new S3FifoPolicy(10, 102), [.. hot, .. scan, 0, 1]);

        Assert.EndsWith("hh", decisions, StringComparison.Ordinal);
    }

    [Fact]
    public void Lru_would_have_lost_those_keys() =>
        Assert.EndsWith("..", Decisions(new LruPolicy(10, 102), [0, 1, 0, 1, 0, 1, .. Enumerable.Range(2, 100), 0, 1]), StringComparison.Ordinal);

    [Fact]
    public void S3_fifo_takes_a_key_that_returns_from_its_ghosts_straight_to_the_main_queue()
    {
        // With a capacity of ten, the cache holds 0 and nine other keys. The tenth pushes 0 out, into the ghost queue. After its return, 0 survives
        // another scan. A key in the small queue would not survive it.
        int[] requests = [.. Enumerable.Range(0, 11), 0, .. Enumerable.Range(11, 30), 0];

        var decisions = Decisions(new S3FifoPolicy(10, 41), requests);

        Assert.Equal('.', decisions[11]);
        Assert.Equal('h', decisions[^1]);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void W_tiny_lfu_lets_a_scan_pass_by_the_keys_asked_for_more_often(bool isAdaptive)
    {
        int[] hot = [0, 1, 0, 1, 0, 1];
        var scan = Enumerable.Range(2, 100);

        var decisions = Decisions(new WindowTinyLfuPolicy(10, 102, isAdaptive), [.. hot, .. scan, 0, 1]);

        Assert.EndsWith("hh", decisions, StringComparison.Ordinal);
    }

    [Fact]
    public void The_first_level_lets_a_scan_pass_by_the_keys_in_its_main_queue()
    {
        int[] hot = [0, 1, 0, 1, 0, 1];
        var scan = Enumerable.Range(2, 100);

        var decisions = Decisions(new LocalCachePolicy(10, 102), [.. hot, .. scan, 0, 1]);

        Assert.EndsWith("hh", decisions, StringComparison.Ordinal);
    }

    [Fact]
    public void The_first_level_never_holds_more_keys_than_it_may()
    {
        var random = new Random(3);
        using var policy = new LocalCachePolicy(10, 40);
        foreach (var key in RandomRequests(random, keys: 40, count: 1000))
        {
            policy.Request(key);

            Assert.InRange(policy.Entries, 1, 10);
        }
    }

    [Fact]
    public void Optimal_hits_as_often_as_the_best_of_all_choices()
    {
        var random = new Random(1);
        for (var i = 0; i < RandomTraces; i++)
        {
            var requests = RandomRequests(random, keys: 5, count: 12);

            var hits = Replay.Run(new OptimalPolicy(2, requests, 5), new Trace("test", requests, 5)).Hits;

            Assert.Equal(BestHits(requests, at: 0, cached: [], capacity: 2), hits);
        }
    }

    [Fact]
    public void No_policy_beats_the_optimal_one()
    {
        var random = new Random(2);
        for (var i = 0; i < RandomTraces; i++)
        {
            var requests = RandomRequests(random, keys: 40, count: 400);
            var trace = new Trace("test", requests, 40);
            var optimum = Replay.Run(new OptimalPolicy(10, requests, 40), trace).Hits;

            Assert.InRange(Replay.Run(new LruPolicy(10, 40), trace).Hits, 0, optimum);
            Assert.InRange(Replay.Run(new SievePolicy(10, 40), trace).Hits, 0, optimum);
            Assert.InRange(Replay.Run(new S3FifoPolicy(10, 40), trace).Hits, 0, optimum);
            Assert.InRange(Replay.Run(new WindowTinyLfuPolicy(10, 40, isAdaptive: false), trace).Hits, 0, optimum);
            Assert.InRange(Replay.Run(new WindowTinyLfuPolicy(10, 40, isAdaptive: true), trace).Hits, 0, optimum);
            Assert.InRange(Replay.Run(new LocalCachePolicy(10, 40), trace).Hits, 0, optimum);
        }
    }

    /// <summary>Returns one character for each request: h for a hit, a dot for a miss.</summary>
    private static string Decisions(ICachePolicy policy, int[] requests)
    {
        using (policy)
        {
            return string.Concat(requests.Select(key => policy.Request(key) ? 'h' : '.'));
        }
    }

    private static int[] RandomRequests(Random random, int keys, int count) =>
        [.. Enumerable.Range(0, count).Select(_ => random.Next(keys))];

    /// <summary>Returns the best possible number of hits. It tries every eviction at every miss.</summary>
    private static int BestHits(int[] requests, int at, HashSet<int> cached, int capacity)
    {
        if (at == requests.Length)
        {
            return 0;
        }

        var key = requests[at];
        if (cached.Contains(key))
        {
            return 1 + BestHits(requests, at + 1, cached, capacity);
        }

        if (cached.Count < capacity)
        {
            return BestHits(requests, at + 1, [.. cached, key], capacity);
        }

        return cached.Max(victim => BestHits(requests, at + 1, [.. cached.Where(other => other != victim), key], capacity));
    }
}
