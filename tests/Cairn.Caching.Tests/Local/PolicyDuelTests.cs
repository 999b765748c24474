using System.Globalization;
using Cairn.Caching.Local;
using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Tests.Local;

public class PolicyDuelTests
{
    private const int Capacity = 26_000;

    // Shadows that begin without the uses of the present entries favour policies that do not move used entries, and the cache follows the wrong policy.
    [Fact]
    public void A_large_level_over_a_workload_that_does_not_change_loses_at_most_a_point_to_its_best_policy()
    {
        int[] requests = [.. PopularAndSingleKeys(240_000)];

        double own = HitPercent(requests, policy: null);
        double best = QueuePolicy.Candidates.Max(policy => HitPercent(requests, policy));

        Assert.InRange(own, best - 1, 100);
    }

    // The main queue of the first policy is full of keys that no request uses, and S3-FIFO alone never evicts them, because no key is used twice.
    [Fact]
    public void A_level_gets_rid_of_what_an_earlier_policy_kept()
    {
        int[] requests = [.. PopularAndSingleKeys(60_000), .. KeysThatAreReadOnceLater(200_000, longestLag: Capacity)];

        double own = HitPercent(requests, policy: null);

        Assert.InRange(own, HitPercent(requests, QueuePolicy.Candidates.Single(policy => policy.OrdersByUse)) - 5, 100);
    }

    private static double HitPercent(int[] requests, QueuePolicy? policy)
    {
        var cache = new LocalCache(Capacity, long.MaxValue, policy: policy);
        int hits = 0;
        foreach (int request in requests)
        {
            string key = request.ToString(CultureInfo.InvariantCulture);
            if (cache.Find(key) is not null)
            {
                hits++;
            }
            else
            {
                cache.Put(key);
            }
        }

        return 100.0 * hits / requests.Length;
    }

    private static IEnumerable<int> PopularAndSingleKeys(int count)
    {
        var random = new Random(1);
        int single = 1_000_000;
        for (int i = 0; i < count; i++)
        {
            // About a Zipf distribution with skew 0.9.
            yield return random.Next(100) < 40 ? single++ : (int)(20_000 * Math.Pow(random.NextDouble(), 10));
        }
    }

    private static IEnumerable<int> KeysThatAreReadOnceLater(int count, int longestLag)
    {
        var random = new Random(2);
        var due = new PriorityQueue<int, int>();
        int key = 10_000_000;
        for (int i = 0; i < count; i++)
        {
            if (due.TryPeek(out int read, out int time) && time <= i)
            {
                due.Dequeue();
                yield return read;
            }
            else
            {
                due.Enqueue(key, i + 1 + random.Next(longestLag));
                yield return key++;
            }
        }
    }
}
