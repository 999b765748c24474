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

    // The policy of the first requests decides in a short run: what it has evicted does not come back when another policy takes over.
    [Theory]
    [InlineData(100)]
    [InlineData(400)]
    [InlineData(1_000)]
    public void A_small_level_loses_at_most_three_points_to_its_best_policy_while_queries_repeat_over_a_few_capacities(int capacity)
    {
        int[] requests = [.. RepeatedQueries(index: capacity * 5 / 4, files: capacity / 4).Take(8 * capacity)];

        double own = HitPercent(requests, policy: null, capacity);
        double best = QueuePolicy.Candidates.Max(policy => HitPercent(requests, policy, capacity));

        Assert.InRange(own, best - 3, 100);
    }

    // The opposite case: a policy that keeps what it has must not rule for long while files are read some times and never again.
    [Theory]
    [InlineData(100)]
    [InlineData(400)]
    [InlineData(1_000)]
    public void A_small_level_loses_at_most_six_points_to_its_best_policy_while_new_files_are_read_some_times(int capacity)
    {
        int[] requests = [.. NewFiles(length: capacity * 3 / 4, times: 4).Take(40 * capacity)];

        double own = HitPercent(requests, policy: null, capacity);
        double best = QueuePolicy.Candidates.Max(policy => HitPercent(requests, policy, capacity));

        Assert.InRange(own, best - 6, 100);
    }

    private static double HitPercent(int[] requests, QueuePolicy? policy, int capacity = Capacity)
    {
        var cache = new LocalCache(capacity, long.MaxValue, policy: policy);
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

    // Each query reads the index in order, and then some files that no other query reads.
    private static IEnumerable<int> RepeatedQueries(int index, int files)
    {
        for (int file = index; ; file += files)
        {
            for (int key = 0; key < index; key++)
            {
                yield return key;
            }

            for (int key = file; key < file + files; key++)
            {
                yield return key;
            }
        }
    }

    private static IEnumerable<int> NewFiles(int length, int times)
    {
        for (int first = 0; ; first += length)
        {
            for (int request = 0; request < length * times; request++)
            {
                yield return first + (request % length);
            }
        }
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
