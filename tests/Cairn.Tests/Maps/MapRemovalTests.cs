using System.Collections.Concurrent;

namespace Cairn.Tests.Maps;

/// <summary>The removals that a process learns of.</summary>
public sealed class MapRemovalTests : StoreTest
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);

    private readonly BlockingCollection<(string Key, MapRemovalReason Reason)> _seen = [];

    [Fact]
    public void Removals_and_replacements_are_reported_with_their_reason_in_their_order()
    {
        PersistentMap<string, int> map = Observed();

        map["a"] = 1;
        map["a"] = 2;
        map.Remove("a");
        map.Remove("a");
        map["b"] = 1;
        map.AddOrUpdate("b", 1, static (_, value) => value + 1);
        map.Remove("b", out _);
        map["c"] = 1;
        map.Clear();

        Expect(
            ("a", MapRemovalReason.Replaced), ("a", MapRemovalReason.Removed), ("b", MapRemovalReason.Replaced), ("b", MapRemovalReason.Removed),
            ("c", MapRemovalReason.Removed));
    }

    [Fact]
    public void Every_object_of_a_map_reports_to_every_handler_of_the_process()
    {
        Observed();
        PersistentMap<string, int> other = Store.Map("stock", PersistentMapTests.Kept<string, int>());

        other["a"] = 1;
        other.Remove("a");

        Expect(("a", MapRemovalReason.Removed));
    }

    [Fact]
    public void Expired_value_is_reported_when_the_sweep_removes_it()
    {
        PersistentMap<string, int> map = Observed();
        map.Set("a", 1, Expiration.After(TimeSpan.FromSeconds(10)));

        Clock.Advance(TimeSpan.FromSeconds(11));
        while (!Store.SweepExpired().IsComplete)
        {
        }

        Expect(("a", MapRemovalReason.Expired));
    }

    [Fact]
    public void Evicted_values_are_reported_and_are_those_that_are_gone()
    {
        PersistentMap<int, byte[]> map = Store.Map("blocks", new MapOptions<int, byte[]> { Region = StoreRegion.Evict });
        using var gone = new BlockingCollection<int>();
        map.EntryRemoved += (_, e) =>
        {
            Assert.Equal(MapRemovalReason.Evicted, e.Reason);
            gone.Add(e.Key);
        };

        for (int i = 0; i < 3_000; i++)
        {
            map[i] = TestBytes.Of(4_000, i);
        }

        int missing = Enumerable.Range(0, 3_000).Count(i => !map.Contains(i));
        var keys = new HashSet<int>();
        while (keys.Count < missing && gone.TryTake(out int key, Long))
        {
            keys.Add(key);
        }

        Assert.NotEqual(0, missing);
        Assert.Equal(missing, keys.Count);
        Assert.All(keys, key => Assert.False(map.Contains(key)));
    }

    [Fact]
    public void Handler_that_was_removed_is_not_called()
    {
        PersistentMap<string, int> map = Store.Map("stock", PersistentMapTests.Kept<string, int>());
        EventHandler<MapRemovedEventArgs<string>> handler = (_, _) => throw new InvalidOperationException();
        map.EntryRemoved += handler;
        map.EntryRemoved -= handler;
        map.EntryRemoved += (_, e) => _seen.Add((e.Key, e.Reason));

        map["a"] = 1;
        map.Remove("a");

        Expect(("a", MapRemovalReason.Removed));
    }

    private PersistentMap<string, int> Observed()
    {
        PersistentMap<string, int> map = Store.Map("stock", PersistentMapTests.Kept<string, int>());
        map.EntryRemoved += (_, e) => _seen.Add((e.Key, e.Reason));
        return map;
    }

    private void Expect(params (string Key, MapRemovalReason Reason)[] removals)
    {
        foreach ((string Key, MapRemovalReason Reason) expected in removals)
        {
            Assert.True(_seen.TryTake(out (string Key, MapRemovalReason Reason) seen, Long));
            Assert.Equal(expected, seen);
        }

        Assert.Empty(_seen);
    }
}
