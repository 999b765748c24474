using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Tests.Local;

public class ShadowCacheTests
{
    public static TheoryData<int> Policies => [.. Enumerable.Range(0, QueuePolicy.Candidates.Count)];

    [Theory]
    [MemberData(nameof(Policies))]
    public void A_shadow_holds_its_last_key_and_never_more_keys_than_its_capacity(int policy)
    {
        const int Capacity = 50;
        var random = new Random(policy);
        var shadow = new OneShadow(QueuePolicy.Candidates[policy], Capacity);
        var requested = new HashSet<uint>();

        for (int i = 0; i < 20_000; i++)
        {
            uint key = KeyOf((int)(200 * Math.Pow(random.NextDouble(), 2)));
            bool isFirst = requested.Add(key);

            bool isHit = shadow.Request(key);

            Assert.False(isHit && isFirst, "A key is a hit before it was requested.");
            Assert.True(shadow.Request(key), "The key just requested is a hit.");
            if (random.Next(10) == 0)
            {
                shadow.Remove(key);
                Assert.False(shadow.Request(key), "A removed key is a miss.");
            }

            Assert.InRange(shadow.Count, 1, Capacity);
        }
    }

    [Fact]
    public void The_policy_with_a_margin_keeps_a_part_of_a_loop_and_those_without_frequencies_keep_none()
    {
        foreach (QueuePolicy policy in QueuePolicy.Candidates.Where(policy => policy.Margin > 0 || !policy.ComparesFrequency))
        {
            var shadow = new OneShadow(policy, 100);
            int hits = Enumerable.Range(0, 100 * 400).Count(i => shadow.Request(KeyOf(i % 400)));

            Assert.True(policy.ComparesFrequency ? hits > 4000 : hits < 400, $"{policy.Name}: {hits} hits.");
        }
    }

    [Fact]
    public void The_policy_that_orders_by_use_has_nearly_the_hits_of_lru_while_the_popular_keys_change()
    {
        const int Capacity = 400;
        var random = new Random(1);
        var shadow = new OneShadow(QueuePolicy.Candidates.Single(policy => policy.OrdersByUse), Capacity);
        var order = new LinkedList<int>();
        var places = new Dictionary<int, LinkedListNode<int>>();
        int hits = 0;
        int hitsOfLru = 0;

        for (int i = 0; i < 40_000; i++)
        {
            // Small numbers are the most probable, and the range moves on.
            int key = (i / 10) + (int)(2_000 * Math.Pow(random.NextDouble(), 4));
            hits += shadow.Request(KeyOf(key)) ? 1 : 0;
            if (places.TryGetValue(key, out LinkedListNode<int>? place))
            {
                hitsOfLru++;
                order.Remove(place);
            }
            else if (order.Count == Capacity)
            {
                places.Remove(order.First!.Value);
                order.RemoveFirst();
            }

            places[key] = order.AddLast(key);
        }

        Assert.InRange(hits, hitsOfLru * 0.97, hitsOfLru);
    }

    // The table, the states and the links of all shadows are common. Each must behave as if it were alone, whatever the others hold.
    [Fact]
    public void Shadows_over_the_same_keys_hold_what_each_would_hold_alone()
    {
        var random = new Random(1);
        (QueuePolicy Policy, int Capacity)[] kinds =
            [.. QueuePolicy.Candidates.Select((policy, i) => (policy, 40 + i)), (QueuePolicy.First, 20), (QueuePolicy.First, 400), (QueuePolicy.FirstOfSmall, 1)];
        var together = new ShadowCaches(kinds);
        OneShadow[] alone = [.. kinds.Select(kind => new OneShadow(kind.Policy, kind.Capacity))];

        for (int i = 0; i < 40_000; i++)
        {
            uint key = KeyOf((i / 50) + (int)(600 * Math.Pow(random.NextDouble(), 2)));
            if (random.Next(50) == 0)
            {
                together.Remove(key);
                Array.ForEach(alone, shadow => shadow.Remove(key));
            }

            bool[] isAsked = [.. kinds.Select(_ => random.Next(10) > 0)];
            ulong hits = together.Request(key, BitsWhere(shadow => isAsked[shadow]));

            Assert.Equal(BitsWhere(shadow => isAsked[shadow] && alone[shadow].Request(key)), hits);
        }

        Assert.Equal(alone.Select(shadow => shadow.Count), kinds.Select((_, i) => together[i].Count));

        ulong BitsWhere(Func<int, bool> isSet) => Enumerable.Range(0, kinds.Length).Where(isSet).Aggregate(0UL, (bits, i) => bits | ShadowCaches.BitOf(i));
    }

    private static uint KeyOf(int number) => (uint)number * 2_654_435_761;

    private sealed class OneShadow(QueuePolicy policy, int capacity)
    {
        private readonly ShadowCaches _caches = new([(policy, capacity)]);

        public int Count => _caches[0].Count;

        public bool Request(uint key) => _caches.Request(key, ShadowCaches.BitOf(0)) != 0;

        public void Remove(uint key) => _caches.Remove(key);
    }
}
