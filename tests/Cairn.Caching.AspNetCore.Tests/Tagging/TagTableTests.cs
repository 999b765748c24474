using Cairn.Caching.AspNetCore.Tagging;
using Microsoft.AspNetCore.Http;

namespace Cairn.Caching.AspNetCore.Tests.Tagging;

/// <summary>Evictions by tag while responses are created, entries are lost, or locks cannot be acquired (TagTable I1 to I4).</summary>
public sealed class TagTableTests : OutputCacheStoreTest
{
    private static readonly byte[] EpochKey = [0xFE];

    [Fact]
    public async Task Response_that_was_begun_before_an_eviction_is_refused_and_one_after_it_is_not()
    {
        await SetAsync("known", "response", "tag");

        Begin();
        await EvictAsync("tag");
        await SetAsync("key", "made before", "tag");
        Assert.Null(await GetAsync("key"));
        Assert.Equal(1, Store.OvertakenResponses);

        Begin();
        await SetAsync("key", "made after", "tag");
        Assert.Equal("made after", await GetAsync("key"));
    }

    [Fact]
    public async Task Refused_response_leaves_the_one_that_was_stored_meanwhile()
    {
        Begin();
        HttpContext earlier = Requests.HttpContext!;
        await EvictAsync("tag");
        Begin();
        await SetAsync("key", "newer", "tag");

        Requests.HttpContext = earlier;
        await SetAsync("key", "older", "tag");

        Assert.Equal("newer", await GetAsync("key"));
    }

    [Fact]
    public async Task Evictions_that_overtake_each_other_refuse_what_was_begun_before_either()
    {
        await SetAsync("key", "response", "tag");
        Store.Tags.Raise();
        Begin();
        await EvictAsync("tag");
        Store.Tags.VoidStamp("tag");

        await SetAsync("key", "made before the second", "tag");

        Assert.Null(await GetAsync("key"));
    }

    [Fact]
    public async Task Stamp_is_not_given_in_an_epoch_that_an_eviction_has_ended_meanwhile()
    {
        Begin();
        Epoch begun = Store.Tags.Now();
        using CairnStore beside = OpenBeside();
        Assert.Equal(LeaseStatus.Acquired, beside.Collection("output-cache/tags").AcquireLease("tag", TimeSpan.Zero, out StoreLease? lease));
        using (lease)
        {
            await EvictAsync("tag");
            Assert.False(lease!.IsHeld);
        }

        Assert.Equal(0UL, Store.Tags.StampFor("tag", begun));
        Assert.NotEqual(0UL, Store.Tags.StampFor("tag", Store.Tags.Now()));
    }

    [Fact]
    public async Task Process_that_stopped_while_it_held_the_lease_of_a_tag_costs_responses_and_nothing_else()
    {
        using CairnStore beside = OpenBeside();
        beside.Collection("output-cache/tags").AcquireLease("tag", TimeSpan.Zero, out StoreLease? lease);
        using (lease)
        {
            await SetAsync("key", "response", "tag");
            Assert.Null(await GetAsync("key"));
            Assert.Equal(1, Store.OvertakenResponses);
        }

        await SetAsync("key", "response", "tag");
        Assert.Equal("response", await GetAsync("key"));
    }

    [Fact]
    public async Task New_tag_whose_past_is_not_known_costs_one_response()
    {
        Begin();
        await EvictAsync("other");
        await SetAsync("key", "first", "new");
        Assert.Null(await GetAsync("key"));

        Begin();
        await EvictAsync("other");
        await SetAsync("key", "second", "new");
        Assert.Equal("second", await GetAsync("key"));
    }

    [Fact]
    public async Task Lost_stamp_voids_responses_and_refuses_those_that_were_begun_before_an_eviction()
    {
        await SetAsync("key", "response", "tag");
        Begin();
        await EvictAsync("tag");
        Lose("tag");

        await SetAsync("key", "made before", "tag");

        Assert.Null(await GetAsync("key"));
        Begin();
        await SetAsync("key", "made after", "tag");
        Assert.Equal("made after", await GetAsync("key"));
        Lose("tag");
        Assert.Null(await GetAsync("key"));
    }

    [Fact]
    public async Task Lost_epoch_refuses_what_was_begun_before_and_nothing_after()
    {
        await SetAsync("key", "response", "tag");
        Begin();
        Lose(EpochKey);

        await EvictAsync("tag");
        await SetAsync("key", "made before", "tag");
        Assert.Null(await GetAsync("key"));

        Lose(EpochKey);
        Begin();
        await SetAsync("key", "made after", "tag");
        Assert.Equal("made after", await GetAsync("key"));
    }

    [Fact]
    public async Task Epoch_that_was_lost_twice_does_not_make_a_later_eviction_look_earlier()
    {
        await SetAsync("key", "response", "tag");
        Begin();
        Lose(EpochKey);
        await EvictAsync("tag");
        Lose(EpochKey);
        _ = Store.Tags.Now();

        await SetAsync("key", "made before", "tag");

        Assert.Null(await GetAsync("key"));
    }

    [Fact]
    public async Task Foreign_bytes_in_place_of_an_epoch_or_a_stamp_do_no_harm()
    {
        await SetAsync("key", "response", "tag");
        using CairnStore beside = OpenBeside();
        CairnCollection tags = beside.Collection("output-cache/tags");
        foreach (int length in (int[])[0, 1, 100])
        {
            tags.Set(EpochKey, new byte[length]);
            tags.Set("tag", new byte[length]);
            Assert.Null(await GetAsync("key"));
            await EvictAsync("tag");
            Begin();
            await SetAsync("key", "again", "tag");
            Assert.Equal("again", await GetAsync("key"));
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Eviction_that_cannot_have_any_lock_is_an_eviction_all_the_same(bool isBegunBefore)
    {
        await SetAsync("key", "response", "tag");
        Begin();
        using (CairnStore beside = OpenBeside())
        {
            using (new HeldPartitions(beside))
            {
                await EvictAsync("tag");
                Assert.Null(await GetAsync("key"));
            }
        }

        if (!isBegunBefore)
        {
            Begin();
        }

        await SetAsync("key", "later", "tag");

        Assert.Equal(isBegunBefore ? null : "later", await GetAsync("key"));
    }

    [Fact]
    public async Task Response_that_cannot_have_the_lock_is_dropped_and_the_earlier_one_is_gone()
    {
        await SetAsync("key", "earlier");
        using (CairnStore beside = OpenBeside())
        {
            using var held = new HeldPartitions(beside);

            await SetAsync("key", "later");

            Assert.Null(await GetAsync("key"));
            Assert.Equal(1, Store.DroppedWrites);
        }
    }

    [Fact]
    public async Task Evicting_many_times_grows_nothing()
    {
        for (int i = 0; i < 1_000; i++)
        {
            await EvictAsync("tag");
        }

        using CairnStore beside = OpenBeside();
        Assert.Equal(2, beside.Collection("output-cache/tags").Entries().Count());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task No_thread_of_any_opening_is_given_a_response_that_was_begun_before_an_eviction_that_has_ended(int seed)
    {
        const int Tags = 4;
        const int Keys = 8;
        const int Operations = 4_000;
        CairnOutputCacheOptions other = StoreOptions;
        other.LockTimeout = TimeSpan.FromSeconds(1);
        using var beside = new CairnOutputCacheStore(other, Requests);
        Assert.NotSame(beside.Store, Store.Store);
        CairnOutputCacheStore[] stores = [Store, beside];
        long drawn = 0;
        var floors = new long[Tags];
        long hits = 0;

        await Task.WhenAll(Enumerable.Range(0, 4).Select(thread => OwnThread.Run(() =>
        {
            var random = new Random((seed * 100) + thread);
            for (int i = 0; i < Operations; i++)
            {
                CairnOutputCacheStore store = stores[random.Next(stores.Length)];
                int key = random.Next(Keys);
                int tag = key % Tags;
                switch (random.Next(10))
                {
                    case 0:
                        // Every response that has its number by now was begun before this eviction.
                        long before = Interlocked.Read(ref drawn);
                        Run(store.EvictByTagAsync($"tag:{tag}", default));
                        RaiseTo(ref floors[tag], before);
                        break;
                    case < 4:
                        Requests.HttpContext = new DefaultHttpContext();
                        Requests.HttpContext.Features.Set(new RequestEpoch(store.Tags.Now(), IsApart: false));
                        byte[] response = BitConverter.GetBytes(Interlocked.Increment(ref drawn));
                        Thread.SpinWait(random.Next(200));
                        Run(store.SetAsync($"key:{key}", response, [$"tag:{tag}", "all"], Hour, default));
                        break;
                    default:
                        long floor = Interlocked.Read(ref floors[tag]);
                        if (Run(store.GetAsync($"key:{key}", default)) is { } found)
                        {
                            Interlocked.Increment(ref hits);
                            long number = BitConverter.ToInt64(found);
                            Assert.True(number > floor, $"Seed {seed}, thread {thread}, step {i}: response {number} of key {key}; {floor} was evicted.");
                        }

                        break;
                }
            }
        })));

        Assert.True(hits > 0, "Nothing was ever found.");
    }

    private static void Run(ValueTask task) => Assert.True(task.IsCompletedSuccessfully);

#pragma warning disable VSTHRD002 // The task is complete.
    private static T Run<T>(ValueTask<T> task) => task.IsCompletedSuccessfully ? task.Result : throw new InvalidOperationException("It waits for something.");
#pragma warning restore VSTHRD002

    private static void RaiseTo(ref long target, long value)
    {
        long seen = Interlocked.Read(ref target);
        while (seen < value)
        {
            long now = Interlocked.CompareExchange(ref target, value, seen);
            if (now == seen)
            {
                return;
            }

            seen = now;
        }
    }

    // Records the epoch of the request, as the policy does.
    private void Begin()
    {
        Requests.HttpContext = new DefaultHttpContext();
        Requests.HttpContext.Features.Set(new RequestEpoch(Store.Tags.Now(), IsApart: false));
    }

    private void Lose(CacheKey key)
    {
        using CairnStore beside = OpenBeside();
        Assert.True(beside.Collection("output-cache/tags").Remove(key));
    }
}
