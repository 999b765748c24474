using System.Diagnostics;
using Cairn.Tests.WriteAhead;
using Cairn.WriteAhead;

namespace Cairn.Tests.Maps;

/// <summary>Maps whose writes survive a loss of power, at once or soon.</summary>
public sealed class DurableMapTests : StoreTest
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);

    [Fact]
    public void Put_to_a_map_does_not_wait_for_the_disk_and_becomes_durable_without_another_call()
    {
        var platform = new FaultyPlatform();
        using CairnStore store = platform.OpenStore(Options);
        PersistentMap<int, int> map = store.Map<int, int>("numbers");
        StoreLog log = store.Engine.WriteAhead;
        store.Flush();
        using var mayFlush = new ManualResetEventSlim();
        platform.OnFlush = () => Assert.True(mayFlush.Wait(Long));

        map[1] = 1;
        map.Set(2, 2, Expiration.After(TimeSpan.FromHours(1)));
        map.Remove(1);
        using (StoreTransaction transaction = store.BeginTransaction())
        {
            Assert.True(transaction.Set(store.Collection("numbers"), BitConverter.GetBytes(3), BitConverter.GetBytes(3)).Commit());
        }

        long end = log.Tail;
        Assert.True(log.Durable < end);
        mayFlush.Set();
        Assert.True(SpinWait.SpinUntil(() => log.Durable >= end, Long));
    }

    [Fact]
    public async Task Awaited_put_to_a_map_with_the_default_durability_does_not_wait_for_the_disk_either()
    {
        using var mayFlush = new ManualResetEventSlim();
        var platform = new FaultyPlatform();
        using CairnStore store = platform.OpenStore(Options);
        PersistentMap<int, int> map = store.Map<int, int>("numbers");
        await store.FlushAsync();
        platform.OnFlush = () => Assert.True(mayFlush.Wait(Long));

        await map.SetAsync(1, 1);
        bool isDurable = store.Engine.WriteAhead.Durable >= store.Engine.WriteAhead.Tail;
        mayFlush.Set();

        Assert.False(isDurable);
    }

    [Fact]
    public void Put_is_on_the_disk_within_a_tenth_of_a_second()
    {
        PersistentMap<int, int> map = Store.Map<int, int>("numbers");
        StoreLog log = Store.Engine.WriteAhead;
        var times = new TimeSpan[21];

        for (int i = 0; i < times.Length; i++)
        {
            map[i] = i;
            long start = Stopwatch.GetTimestamp();
            long end = log.Tail;
            Assert.True(SpinWait.SpinUntil(() => log.Durable >= end, Long));
            times[i] = Stopwatch.GetElapsedTime(start);
        }

        // The shortest time. Each put follows a flush, so each waits as long as the store delays its flushes. A busy machine adds to that.
        Assert.InRange(times.Min(), TimeSpan.Zero, TimeSpan.FromMilliseconds(100));
    }

    [Fact]
    public void Disk_that_fails_in_the_background_refuses_the_next_put()
    {
        var platform = new FaultyPlatform();
        using CairnStore store = platform.OpenStore(Options);
        PersistentMap<int, int> map = store.Map<int, int>("numbers");
        store.Flush();
        platform.OnFlush = () => throw FaultyPlatform.Failed("flush");

        map[1] = 1;
        Assert.True(SpinWait.SpinUntil(() => store.Engine.WriteAhead.HasFailed, Long));

        Assert.Throws<StoreReadOnlyException>(() => map[2] = 2);
        Assert.Equal(1, map[1]);
    }

    [Fact]
    public void Transaction_waits_for_the_disk_if_one_of_its_collections_does()
    {
        CairnCollection map = Store.Map<int, int>("numbers").Store.Collection("numbers");
        CairnCollection waiting = Store.Collection("waiting", new CollectionOptions { Region = StoreRegion.Keep });

        using StoreTransaction transaction = Store.BeginTransaction();
        Assert.True(transaction.Set(map, BitConverter.GetBytes(1), BitConverter.GetBytes(1)).Set(waiting, "key", [1]).Commit());

        Assert.Equal(Store.Engine.WriteAhead.Tail, Store.Engine.WriteAhead.Durable);
    }

    [Theory]
    [InlineData(Durability.Default)]
    [InlineData(Durability.BackgroundCommit)]
    [InlineData(Durability.GroupCommit)]
    [InlineData(Durability.EveryOperation)]
    public void Every_operation_does_what_it_does_without_the_log(Durability durability)
    {
        PersistentMap<int, int> map = Store.Map("numbers", new MapOptions<int, int> { Durability = durability });

        map[1] = 1;
        map[1] = 2;
        map.Set(2, 2, TimeSpan.FromMinutes(1));
        Assert.True(map.TryAdd(3, 3));
        Assert.Equal(4, map.AddOrUpdate(4, 4, static (_, value) => value));
        Assert.True(map.Remove(3));
        Assert.True(map.Remove(4, out int removed));
        Assert.Equal(4, removed);

        Assert.Equal([KeyValuePair.Create(1, 2), KeyValuePair.Create(2, 2)], map.GetAll().OrderBy(entry => entry.Key));
        Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal([1], map.GetAllKeys());
        map.Clear();
        Assert.Empty(map);
    }

    [Theory]
    [InlineData(Durability.ProcessCrash)]
    [InlineData(Durability.GroupCommit)]
    public async Task Puts_and_removals_that_are_awaited_are_done(Durability durability)
    {
        PersistentMap<int, string> map = Store.Map("texts", new MapOptions<int, string> { Durability = durability });

        await Task.WhenAll(Enumerable.Range(0, 200).Select(i => map.SetAsync(i, $"{i}").AsTask()));
        Assert.True(await map.RemoveAsync(7));
        Assert.False(await map.RemoveAsync(7));

        Assert.Equal(199, map.Count);
        Assert.Equal("42", map[42]);
    }

    [Fact]
    public void Types_are_recorded_as_durably_as_the_map()
    {
        Store.Map<string, int>("stock")["Dune"] = 1;

        Assert.NotNull(Store.Collection("cairn.maps.durable").GetString("stock"));
        Assert.DoesNotContain("cairn.maps", Store.CollectionNames);
        Assert.Throws<StoreException>(() => Store.Map<string, long>("stock"));
    }
}
