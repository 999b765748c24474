using System.Text;
using Cairn.Eviction;

namespace Cairn.Tests.Eviction;

/// <summary>The observer of a store receives each entry that leaves by expiry or by eviction, and no other.</summary>
public sealed unsafe class EntryObserverTests : StoreTest
{
    private readonly Recorder _departures = new();

    [Fact]
    public void Every_evicted_key_is_reported_once_and_no_key_that_is_still_there()
    {
        Store.Engine.Observer = _departures;
        int written = 0;
        for (; written < 60_000; written++)
        {
            Cache.Set($"{written}", TestBytes.Of(400));
        }

        HashSet<string> evicted = [.. _departures.Of(EntryDeparture.Evicted)];
        Assert.Equal(_departures.Count, evicted.Count);
        Assert.NotEmpty(evicted);
        Assert.Equal(Store.GetStatistics().Totals.Evictions, evicted.Count);
        Assert.All(Enumerable.Range(0, written), i => Assert.NotEqual(Cache.Contains($"{i}"), evicted.Contains($"{i}")));
    }

    [Fact]
    public void Keys_that_are_displaced_from_a_full_bucket_are_reported_as_evicted()
    {
        CairnStore store = Open(Options with { AverageEntryBytes = 4096 });
        store.Engine.Observer = _departures;
        for (int i = 0; i < 20_000; i++)
        {
            store.DefaultCollection.Set($"{i}", [1]);
        }

        StoreStatistics statistics = store.GetStatistics();
        Assert.True(statistics.Totals.Displacements > 0);
        Assert.Equal(statistics.Totals.Evictions, _departures.Of(EntryDeparture.Evicted).Count);
    }

    [Fact]
    public void Expired_keys_that_the_evictor_takes_out_are_reported_as_expired()
    {
        Store.Engine.Observer = _departures;
        for (int i = 0; i < 1000; i++)
        {
            Cache.Set($"short {i}", TestBytes.Of(400), TimeSpan.FromSeconds(10));
        }

        Clock.Advance(TimeSpan.FromSeconds(11));
        for (int i = 0; i < 60_000; i++)
        {
            Cache.Set($"long {i}", TestBytes.Of(400));
        }

        IReadOnlyList<string> expired = _departures.Of(EntryDeparture.Expired);
        Assert.Equal(1000, expired.Count);
        Assert.All(expired, key => Assert.StartsWith("short ", key, StringComparison.Ordinal));
        Assert.All(_departures.Of(EntryDeparture.Evicted), key => Assert.StartsWith("long ", key, StringComparison.Ordinal));
    }

    [Fact]
    public void Expired_key_is_reported_when_it_is_replaced_or_removed_or_asked_to_expire()
    {
        CairnCollection kept = Store.Collection("kept", new CollectionOptions { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash });
        foreach (string key in new[] { "replaced", "removed", "expired", "large" })
        {
            Cache.Set(key, [1], TimeSpan.FromSeconds(10));
        }

        kept.Set("kept", [1], TimeSpan.FromSeconds(10));
        Store.Engine.Observer = _departures;
        Assert.False(TryExpire("expired"));
        Clock.Advance(TimeSpan.FromSeconds(11));

        Assert.Equal(0, _departures.Count);
        Cache.Set("replaced", [2]);
        Assert.False(Cache.Remove("removed"));
        Assert.True(TryExpire("expired"));
        Assert.False(TryExpire("expired"));
        Cache.Set("large", TestBytes.Of(100_000));
        kept.Set("kept", [2]);

        Assert.Equal(["replaced", "removed", "expired", "large", "kept"], _departures.Of(EntryDeparture.Expired));
        Assert.Equal(5, _departures.Count);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Live_keys_that_a_caller_replaces_removes_or_clears_are_not_reported()
    {
        Store.Engine.Observer = _departures;
        Cache.Set("replaced", [1], TimeSpan.FromSeconds(10));
        Cache.Set("replaced", [2]);
        Cache.Set("removed", [1], TimeSpan.FromSeconds(10));
        Cache.Remove("removed");
        Cache.Set("cleared", [1], TimeSpan.FromSeconds(10));
        Cache.Clear();
        Clock.Advance(TimeSpan.FromSeconds(11));
        Cache.Set("cleared", [2]);

        Assert.Equal(0, _departures.Count);
    }

    [Fact]
    public void Marker_of_a_lease_is_not_reported()
    {
        Store.Engine.Observer = _departures;
        for (int i = 0; i < 300_000; i++)
        {
            byte[] key = BitConverter.GetBytes(i);
            fixed (byte* start = key)
            {
                Store.Engine.AcquireLease(Store.Engine.Place(start, key.Length, 0), TimeSpan.Zero, TimeSpan.FromMinutes(1), out _);
            }
        }

        Assert.True(Store.GetStatistics().Totals.Evictions > 0);
        Assert.Equal(0, _departures.Count);
    }

    private bool TryExpire(string key)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        fixed (byte* start = bytes)
        {
            return Store.Engine.TryExpire(Store.Engine.Place(start, bytes.Length, 0));
        }
    }

    private sealed class Recorder : IEntryObserver
    {
        private readonly List<(string Key, EntryDeparture Departure)> _all = [];

        public int Count => _all.Count;

        public void OnDeparted(ReadOnlySpan<byte> key, uint collection, EntryDeparture departure) =>
            _all.Add((Encoding.UTF8.GetString(key), departure));

        public IReadOnlyList<string> Of(EntryDeparture departure) =>
            [.. _all.Where(each => each.Departure == departure).Select(each => each.Key)];
    }
}
