using System.Buffers;
using Cairn.Caching.Coherence;
using Cairn.Caching.Levels;
using Cairn.Caching.Tagging;

namespace Cairn.Caching.Tests.Levels;

public class StoreLevelTests : StoreLevelTest
{
    private static readonly byte[] Dune = [.. "Dune"u8];

    [Fact]
    public async Task Value_is_read_by_every_process_as_it_was_written()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        byte[] large = TestBytes.Of(300_000);

        Assert.Equal(LevelStatus.Done, await Write(level, "book:42", Dune));
        Assert.Equal(LevelStatus.Done, await Write(level, "книга:42", large));
        Assert.Equal(LevelStatus.Done, await Write(level, "empty", []));

        Assert.Equal(Dune, await Read(other, "book:42"));
        Assert.Equal(large, await Read(other, "книга:42"));
        Assert.Empty((await Read(other, "empty"))!);
        Assert.Null(await Read(other, "book:43"));
    }

    [Fact]
    public async Task Many_keys_are_read_at_once_with_buffers_and_statuses_in_their_order()
    {
        StoreLevel level = Open();
        string[] keys = [.. Enumerable.Range(0, 40).Select(i => $"book:{i}")];
        for (int i = 0; i < keys.Length; i += 2)
        {
            await Write(level, keys[i], TestBytes.Of(100 + i));
        }

        ArrayBufferWriter<byte>[] targets = [.. keys.Select(_ => new ArrayBufferWriter<byte>())];
        var statuses = new LevelStatus[keys.Length];
        await level.ReadManyAsync(keys, keys.Select(key => level.Hasher.Hash(key)).ToArray(), targets, statuses, default);

        for (int i = 0; i < keys.Length; i++)
        {
            Assert.Equal(i % 2 == 0 ? LevelStatus.Hit : LevelStatus.Miss, statuses[i]);
            Assert.Equal(i % 2 == 0 ? TestBytes.Of(100 + i) : [], targets[i].WrittenSpan.ToArray());
        }
    }

    [Fact]
    public async Task Entry_is_readable_until_its_deadline_and_gone_at_it()
    {
        StoreLevel level = Open();
        await Write(level, "key", Dune, new(Clock.Now.ToUnixTimeMilliseconds() + 60_000, 0));

        Clock.Advance(TimeSpan.FromMilliseconds(59_999));
        Assert.Equal(Dune, await Read(level, "key"));

        Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Null(await Read(level, "key"));
    }

    [Fact]
    public async Task Entry_that_is_written_past_its_deadline_removes_what_was_there()
    {
        StoreLevel level = Open();
        await Write(level, "key", Dune);

        Assert.Equal(LevelStatus.Done, await Write(level, "key", Dune, new(Clock.Now.ToUnixTimeMilliseconds(), 0)));

        Assert.Null(await Read(level, "key"));
    }

    [Fact]
    public async Task Sliding_entry_lives_on_by_being_touched_and_ends_at_its_deadline()
    {
        StoreLevel level = Open();
        ulong hash = level.Hasher.Hash("key");
        var expiration = new LevelExpiration(Clock.Now.ToUnixTimeMilliseconds() + 25_000, 10_000);
        await Write(level, "key", Dune, expiration);

        Clock.Advance(TimeSpan.FromSeconds(9));
        Assert.Equal(LevelStatus.Done, await level.TouchAsync("key", hash, expiration, default));
        Clock.Advance(TimeSpan.FromSeconds(9));
        Assert.Equal(LevelStatus.Done, await level.TouchAsync("key", hash, expiration, default));
        Clock.Advance(TimeSpan.FromSeconds(6));
        Assert.Equal(Dune, await Read(level, "key"));
        Clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Null(await Read(level, "key"));
        Assert.Equal(LevelStatus.Miss, await level.TouchAsync("key", hash, expiration, default));
    }

    [Fact]
    public async Task Touching_an_entry_is_no_change_of_it()
    {
        StoreLevel level = Open();
        ulong hash = level.Hasher.Hash("key");
        var expiration = new LevelExpiration(long.MaxValue, 10_000);
        await Write(level, "key", Dune, expiration);
        ChangeMark mark = level.Coherence.Mark(hash);

        Clock.Advance(TimeSpan.FromSeconds(9));
        Assert.Equal(LevelStatus.Done, await level.TouchAsync("key", hash, expiration, default));

        Assert.True(level.Coherence.IsUnchanged(mark, hash));
    }

    [Fact]
    public async Task Removed_value_is_gone_for_every_process()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        await Write(level, "key", Dune);

        Assert.Equal(LevelStatus.Done, await Remove(other, "key"));
        Assert.Equal(LevelStatus.Done, await Remove(other, "never there"));

        Assert.Null(await Read(level, "key"));
    }

    [Fact]
    public async Task Caches_of_different_names_share_nothing()
    {
        StoreLevel books = Open("books");
        StoreLevel films = Open("films");
        await Write(books, "dune", Dune);
        ulong stamp = await ReadStamp(books, "herbert");

        Assert.Null(await Read(films, "dune"));
        Assert.NotEqual(stamp, await ReadStamp(films, "herbert"));
        Assert.Equal(LevelStatus.Done, await films.ClearAsync(default));
        Assert.Equal(Dune, await Read(books, "dune"));
        Assert.NotEqual(books.Hasher.Hash("dune"), films.Hasher.Hash("dune"));
        Assert.NotEqual(books.Hasher.Hash("dune"), books.TagHasher.Hash("dune"));
    }

    [Fact]
    public async Task Conditions_that_two_levels_add_at_once_are_all_kept()
    {
        const int Each = TagState.MaxConditions / 2;
        StoreLevel[] levels = [Open(), Open()];
        for (int round = 0; round < 50; round++)
        {
            string tag = $"tag {round}";
            await ReadStamp(levels[0], tag);
            using var start = new Barrier(2);

            await Task.WhenAll(levels.Select((level, at) => Task.Run(() => Add(level, tag, at, start))));

            TagState state = await levels[0].ReadStampAsync(tag, levels[0].TagHasher.Hash(tag), default);
            Assert.Equal(Enumerable.Range(0, 2 * Each).Select(i => (ulong)i), state.Conditions!.Select(condition => condition.Others[0]).Order());
        }

        static void Add(StoreLevel level, string tag, int at, Barrier start)
        {
            start.SignalAndWait();
            for (int i = 0; i < Each; i++)
            {
                // A store completes every change before it returns.
                Assert.True(level.AddConditionAsync(tag, level.TagHasher.Hash(tag), [(ulong)((at * Each) + i)], default).AsTask().IsCompletedSuccessfully);
            }
        }
    }

    [Fact]
    public async Task Tag_has_one_stamp_for_all_until_it_is_renewed()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();

        ulong stamp = await ReadStamp(level, "herbert");
        Assert.NotEqual(Tag.Unknown, stamp);
        Assert.Equal(stamp, await ReadStamp(other, "herbert"));
        Assert.Equal(stamp, await ReadStamp(level, "herbert"));

        Assert.Equal(LevelStatus.Done, await RenewStamp(other, "herbert"));
        ulong renewed = await ReadStamp(level, "herbert");
        Assert.NotEqual(stamp, renewed);
        Assert.Equal(renewed, await ReadStamp(other, "herbert"));
        Assert.NotEqual(renewed, await ReadStamp(other, "asimov"));
    }

    [Fact]
    public async Task Two_callers_that_read_a_tag_for_the_first_time_at_once_get_one_stamp()
    {
        StoreLevel[] levels = [Open(), Open()];
        for (int round = 0; round < 200; round++)
        {
            string tag = $"tag:{round}";
            using var start = new Barrier(2);

            ulong[] stamps = await Task.WhenAll(levels.Select(level => OwnThread.Run(() =>
            {
                start.SignalAndWait();
                return ReadStamp(level, tag);
            }).Unwrap()));

            Assert.NotEqual(Tag.Unknown, stamps[0]);
            Assert.Equal(stamps[0], stamps[1]);
        }
    }

    [Fact]
    public async Task First_stamp_of_a_tag_is_no_change_of_it_and_every_later_one_is()
    {
        StoreLevel level = Open();
        ulong hash = level.TagHasher.Hash("tag");
        ChangeMark mark = level.Coherence.Mark(hash);

        await ReadStamp(level, "tag");
        await ReadStamp(level, "tag");
        Assert.True(level.Coherence.IsUnchanged(mark, hash));

        await RenewStamp(level, "tag");
        Assert.False(level.Coherence.IsUnchanged(mark, hash));
    }

    [Fact]
    public async Task Record_that_is_no_stamp_is_replaced_by_one()
    {
        StoreLevel level = Open(out CairnStore store);
        CairnCollection tags = store.Collection(Name + StoreLevel.TagsSuffix);
        foreach (int length in (int[])[0, 7, 8, 9, 1_000])
        {
            tags.Set("tag", new byte[length]);

            ulong stamp = await ReadStamp(level, "tag");

            Assert.NotEqual(Tag.Unknown, stamp);
            Assert.Equal(stamp, await ReadStamp(level, "tag"));
        }

        Assert.Equal(0, level.Failures);
    }

    [Fact]
    public async Task Clearing_removes_values_and_stamps_and_ends_leases()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        await Write(level, "key", Dune);
        ulong stamp = await ReadStamp(level, "tag");
        LeaseResult leased = await Acquire(level, "leased");

        Assert.Equal(LevelStatus.Done, await other.ClearAsync(default));

        Assert.Null(await Read(level, "key"));
        Assert.NotEqual(stamp, await ReadStamp(level, "tag"));
        Assert.False(leased.Lease!.IsHeld);
        Assert.Equal(LevelStatus.LeaseLost, await Write(level, "leased", Dune, lease: leased.Lease));
    }

    [Fact]
    public async Task Nothing_throws_when_the_store_is_closed()
    {
        StoreLevel level = Open(out CairnStore store);
        LeaseResult leased = await Acquire(level, "leased");
        LeaseResult versioned = await AcquireOfLong(level);
        ulong hash = level.Hasher.Hash("key");
        store.Dispose();

        Assert.Equal(LevelStatus.Failed, await level.ReadAsync("key", hash, new ArrayBufferWriter<byte>(), default));
        Assert.Equal(LevelStatus.Failed, await Write(level, "key", Dune));
        Assert.Equal(LevelStatus.Failed, await Write(level, "leased", Dune, lease: leased.Lease));
        Assert.Equal(LevelStatus.Failed, await Remove(level, "key"));
        Assert.Equal(LevelStatus.Failed, await level.TouchAsync("key", hash, Never, default));
        Assert.Equal(LevelStatus.Failed, (await Acquire(level, "key", TimeSpan.FromMinutes(1))).Status);
        Assert.Equal(Tag.Unknown, await ReadStamp(level, "tag"));
        Assert.Equal(LevelStatus.Failed, await RenewStamp(level, "tag"));
        Assert.Equal(LevelStatus.Failed, await level.ClearAsync(default));
        Assert.Equal(9, level.Failures);
        Assert.False(leased.Lease!.IsHeld);
        Assert.False(versioned.Lease!.IsHeld);
        await leased.Lease.DisposeAsync();
        await versioned.Lease.DisposeAsync();
    }

    [Fact]
    public async Task Key_that_the_store_cannot_name_fails_and_does_not_throw()
    {
        StoreLevel level = Open();
        foreach (string key in (string[])["", "half a \ud83d", new string('k', level.MaxKeyBytes + 1)])
        {
            Assert.Equal(LevelStatus.Failed, await level.ReadAsync(key, level.Hasher.Hash(key), new ArrayBufferWriter<byte>(), default));
            Assert.Equal(LevelStatus.Failed, await Write(level, key, Dune));
            Assert.Equal(LevelStatus.Failed, await Remove(level, key));
            Assert.Equal(LevelStatus.Failed, (await Acquire(level, key, TimeSpan.FromMinutes(1))).Status);
            Assert.Equal(Tag.Unknown, await ReadStamp(level, key));
        }

        string longest = new('k', level.MaxKeyBytes);
        Assert.Equal(LevelStatus.Done, await Write(level, longest, Dune));
        Assert.Equal(Dune, await Read(level, longest));
    }

    [Fact]
    public async Task Operation_that_is_cancelled_before_it_begins_changes_nothing()
    {
        StoreLevel level = Open();
        var cancelled = new CancellationToken(canceled: true);
        ulong hash = level.Hasher.Hash("key");
        await Write(level, "key", Dune);

        Assert.True(level.RemoveAsync("key", hash, cancelled).AsTask().IsCanceled);
        Assert.True(level.WriteAsync("key", hash, new byte[1], Never, null, cancelled).AsTask().IsCanceled);
        Assert.True(level.AcquireLeaseAsync("key", hash, false, TimeSpan.Zero, cancelled).AsTask().IsCanceled);
        Assert.True(level.ClearAsync(cancelled).AsTask().IsCanceled);

        Assert.Equal(Dune, await Read(level, "key"));
    }

    private static async Task<LeaseResult> AcquireOfLong(StoreLevel level)
    {
        await Write(level, "long", TestBytes.Of(200_000));
        return await Acquire(level, "long", replacesStale: true);
    }
}
