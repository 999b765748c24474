using Cairn.Caching.Local;
using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Tests.Local;

/// <summary>The first level follows the workload.</summary>
public class AdaptiveEvictionTests
{
    // With one policy the first level hit 8.8 % of the requests of such a loop: each key came back from the ghosts and flushed the main queue.
    [Theory]
    [InlineData(256)]
    [InlineData(512)]
    [InlineData(900)]
    public void A_loop_over_more_keys_than_there_is_room_for_hits_nearly_as_often_as_there_is_room(int capacity)
    {
        const int Keys = 1011;
        var cache = new LocalCache(capacity, long.MaxValue);
        Replay(cache, Enumerable.Range(0, 100 * Keys).Select(i => i % Keys));

        double ratio = Replay(cache, Enumerable.Range(0, 100 * Keys).Select(i => i % Keys));

        Assert.InRange(ratio, (0.97 * capacity / Keys) - 0.01, (double)capacity / Keys);
    }

    // The limit is no multiple of the size. New entries pushed entries that were used once into the main queue, and the loop had no hits at all.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_limit_of_bytes_hits_as_often_as_a_limit_of_as_many_entries(bool isLoop)
    {
        const int Capacity = 250;
        var random = new Random(5);
        int[] requests = [.. Enumerable.Range(0, 200_000).Select(i => isLoop ? i % 400 : (int)(5_000 * Math.Pow(random.NextDouble(), 4)))];

        double ofBytes = Replay(new LocalCache(int.MaxValue, (Capacity * 100) + 50), requests, _ => 100);

        Assert.Equal(Replay(new LocalCache(Capacity, long.MaxValue), requests), ofBytes, 0.01);
    }

    // A new entry that is larger than the small queue's share takes room from the main queue. Entries that were used once filled it again: 37 % of the
    // requests of this workload were hits.
    [Fact]
    public void Entries_of_different_size_do_not_displace_popular_ones()
    {
        const int Keys = 20_000;
        var random = new Random(5);
        long[] bytes = [.. Enumerable.Range(0, Keys).Select(_ => (long)(50 * Math.Exp(random.NextDouble() * 8)))];
        int[] requests = [.. Enumerable.Range(0, 300_000).Select(_ => (int)(Keys * Math.Pow(random.NextDouble(), 6)))];
        QueuePolicy other = QueuePolicy.Candidates.First(policy => policy.Name == "promotion");

        double ratio = Replay(new LocalCache(int.MaxValue, bytes.Sum() / 100), requests, key => bytes[key]);

        double withoutComparison = Replay(new LocalCache(int.MaxValue, bytes.Sum() / 100, policy: other), requests, key => bytes[key]);
        Assert.InRange(ratio, withoutComparison - 0.005, 1);
    }

    [Fact]
    public void The_policy_changes_with_the_workload_and_back()
    {
        var cache = new LocalCache(1000, long.MaxValue);
        var random = new Random(1);

        Replay(cache, Enumerable.Range(0, 100_000).Select(i => i % 1200));
        string ofLoop = cache.GetPolicyStatistics().Ruling;

        // Each key is requested some times soon after its first request, and never again.
        Replay(cache, Enumerable.Range(0, 300_000).Select(i => 10_000 + (i / 4) - (int)(300 * Math.Pow(random.NextDouble(), 3))));
        (string ofNewKeys, long changes) = (cache.GetPolicyStatistics().Ruling, cache.GetPolicyStatistics().Changes);

        Assert.StartsWith("frequency", ofLoop, StringComparison.Ordinal);
        Assert.DoesNotContain("frequency", ofNewKeys, StringComparison.Ordinal);
        Assert.InRange(changes, 2, 50);
    }

    [Fact]
    public void Hits_of_other_policies_and_other_capacities_are_estimated()
    {
        const int Capacity = 2000;
        var random = new Random(5);
        int[] requests = [.. Enumerable.Range(0, 400_000).Select(_ => (int)(20_000 * Math.Pow(random.NextDouble(), 4)))];
        var cache = new LocalCache(Capacity, long.MaxValue);

        double ratio = Replay(cache, requests);

        double[] gained = [.. cache.GetPolicyStatistics().Gained];
        double half = Replay(new LocalCache(Capacity / 2, long.MaxValue), requests);
        double twice = Replay(new LocalCache(Capacity * 2, long.MaxValue), requests);
        double four = Replay(new LocalCache(Capacity * 4, long.MaxValue), requests);
        Assert.Equal(half, ratio + (gained[^3] / requests.Length), 0.03);
        Assert.Equal(twice, ratio + (gained[^2] / requests.Length), 0.03);
        Assert.Equal(four, ratio + (gained[^1] / requests.Length), 0.03);
    }

    // While the duel rests, shadows see nothing, and what they gained in the round before stands for it.
    [Fact]
    public void Estimates_of_a_settled_level_are_about_all_its_requests()
    {
        const int Capacity = 500;
        var random = new Random(5);
        int[] requests = [.. Enumerable.Range(0, 500_000).Select(_ => (int)(5_000 * Math.Pow(random.NextDouble(), 4)))];
        var cache = new LocalCache(Capacity, long.MaxValue);

        double ratio = Replay(cache, requests);

        double half = Replay(new LocalCache(Capacity / 2, long.MaxValue), requests);
        double twice = Replay(new LocalCache(Capacity * 2, long.MaxValue), requests);
        Assert.Equal(half, ratio + (cache.GetPolicyStatistics().Gained[^3] / requests.Length), 0.02);
        Assert.Equal(twice, ratio + (cache.GetPolicyStatistics().Gained[^2] / requests.Length), 0.02);
    }

    // With recency or S3-FIFO, no request of such a loop hits, so that a loop after a scan of new keys does not change the share of misses.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_settled_level_follows_a_workload_that_changes(bool beginsWithScan)
    {
        const int Capacity = 500;
        const int Loop = 600;
        var random = new Random(5);
        var cache = new LocalCache(Capacity, long.MaxValue);
        Replay(cache, Enumerable.Range(0, 1_000_000).Select(i => 10_000 + (beginsWithScan ? i : (int)(5_000 * Math.Pow(random.NextDouble(), 4)))));

        Replay(cache, Enumerable.Range(0, 60 * Loop).Select(i => i % Loop));
        double ratio = Replay(cache, Enumerable.Range(0, 60 * Loop).Select(i => i % Loop));

        Assert.InRange(ratio, 0.9 * Capacity / Loop, (double)Capacity / Loop);
    }

    // There are 225 sampled hits between two misses. When records for 64 of them were kept, the loop looked shorter to the shadows, and the estimate was 81 %.
    [Fact]
    public void A_loop_that_nearly_fits_looks_as_long_to_the_estimates_as_it_is()
    {
        const int Keys = 1011;
        var cache = new LocalCache(900, long.MaxValue);
        int[] requests = [.. Enumerable.Range(0, 300 * Keys).Select(i => i % Keys)];

        double ratio = Replay(cache, requests);

        double half = Replay(new LocalCache(450, long.MaxValue), requests);
        Assert.Equal(half, ratio + (cache.GetPolicyStatistics().Gained[^3] / requests.Length), 0.05);
    }

    // With a quarter of the keys, the estimate depended on which ones these are.
    [Fact]
    public void Estimates_of_a_small_level_are_within_two_hundredths_with_any_keys()
    {
        const int Capacity = 30;
        for (int seed = 0; seed < 8; seed++)
        {
            var random = new Random(seed);
            int[] requests = [.. Enumerable.Range(0, 20_000).Select(_ => (seed * 10_000) + (int)(50 * Capacity * Math.Pow(random.NextDouble(), 4)))];
            var cache = new LocalCache(Capacity, long.MaxValue);

            double ratio = Replay(cache, requests);

            double twice = Replay(new LocalCache(Capacity * 2, long.MaxValue), requests);
            double four = Replay(new LocalCache(Capacity * 4, long.MaxValue), requests);
            Assert.Equal(twice, ratio + (cache.GetPolicyStatistics().Gained[^2] / requests.Length), 0.02);
            Assert.Equal(four, ratio + (cache.GetPolicyStatistics().Gained[^1] / requests.Length), 0.02);
        }
    }

    // Each series of keys has other hashes, so that other keys are sampled. The interval of 95 % is itself an estimate, from eight groups of keys.
    [Fact]
    public void Most_estimates_are_within_their_margins_which_are_some_hundredths()
    {
        const int Capacity = 2000;
        const int Series = 12;
        const int Requests = 60_000;
        int within = 0;
        for (int seed = 0; seed < Series; seed++)
        {
            var random = new Random(seed);
            int[] requests = [.. Enumerable.Range(0, Requests).Select(_ => (seed * 100_000) + (int)(20_000 * Math.Pow(random.NextDouble(), 4)))];
            var cache = new LocalCache(Capacity, long.MaxValue);

            double ratio = Replay(cache, requests);

            DuelStatistics statistics = cache.GetPolicyStatistics();
            double margin = statistics.Margins[^2] / Requests;
            double twice = Replay(new LocalCache(Capacity * 2, long.MaxValue), requests);
            within += Math.Abs(ratio + (statistics.Gained[^2] / Requests) - twice) <= margin ? 1 : 0;
            Assert.InRange(margin, 0.001, 0.06);
        }

        Assert.InRange(within, Series - 3, Series);
    }

    [Fact]
    public void An_estimate_from_all_keys_leaves_nothing_to_chance()
    {
        var cache = new LocalCache(100, long.MaxValue);
        var random = new Random(1);

        Replay(cache, Enumerable.Range(0, 20_000).Select(_ => random.Next(1000)));

        DuelStatistics statistics = cache.GetPolicyStatistics();
        Assert.NotEqual(0, statistics.Gained[^3]);
        Assert.InRange(statistics.Margins[^3], 0, 1);
    }

    [Fact]
    public void A_level_that_never_evicts_samples_nothing()
    {
        var cache = new LocalCache(1000, long.MaxValue);

        Replay(cache, Enumerable.Range(0, 10_000).Select(i => i % 1000));

        Assert.All(cache.GetPolicyStatistics().Gained, gained => Assert.Equal(0, gained));
    }

    // The duel has to notice that removed keys cannot be hit, as the level does.
    [Fact]
    public void A_removed_key_is_no_hit_that_another_policy_would_have_had()
    {
        var cache = new LocalCache(100, long.MaxValue);
        Replay(cache, Enumerable.Range(0, 1000));

        for (int i = 0; i < 10_000; i++)
        {
            string key = $"{i % 50}";
            cache.Remove(LocalEntries.HashOf(key), key);
            cache.Set(LocalEntries.Of(key));
        }

        Assert.All(cache.GetPolicyStatistics().Gained, gained => Assert.InRange(gained, -200, 200));
    }

    private static double Replay(LocalCache cache, IEnumerable<int> requests, Func<int, long>? bytesOf = null)
    {
        long count = 0;
        long hits = 0;
        foreach (int request in requests)
        {
            string key = $"{request}";
            ulong hash = LocalEntries.HashOf(key);
            count++;
            if (cache.Find(hash, key) is not null)
            {
                hits++;
            }
            else
            {
                cache.Set(new LocalEntry(key, hash) { Bytes = bytesOf?.Invoke(request) ?? 1 });
            }
        }

        return (double)hits / count;
    }
}
