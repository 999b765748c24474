namespace Cairn.Tests.Leasing;

/// <summary>The right to compute a missing value.</summary>
public sealed class LeaseTests : StoreTest
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(2);

    [Fact]
    public void Only_one_gets_the_lease_of_a_missing_key()
    {
        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease));
        Assert.True(lease!.IsHeld);

        Assert.Equal(LeaseStatus.Held, Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? other));
        Assert.Null(other);
        Assert.Equal(LeaseStatus.Held, OpenAgain().DefaultCollection.AcquireLease("key", TimeSpan.FromMilliseconds(5), out other));
        Assert.Null(other);
        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("another key", TimeSpan.Zero, out other));
        other!.Dispose();
    }

    [Fact]
    public void Value_makes_a_lease_unnecessary()
    {
        Cache.Set("key", "value"u8);

        Assert.Equal(LeaseStatus.Hit, Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease));
        Assert.Null(lease);
    }

    [Theory]
    [InlineData(5)]
    [InlineData(300_000)]
    public void Value_set_with_the_lease_ends_it(int length)
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease);

        Assert.True(lease!.TrySet(TestBytes.Of(length), TimeSpan.FromSeconds(1), flags: 4));

        Assert.False(lease.IsHeld);
        Assert.Equal(TestBytes.Of(length), Cache.Get("key"));
        Cache.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(4u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(1), info.ExpiresAt);
        Assert.False(lease.TrySet("again"u8));
        lease.Dispose();
        Assert.Equal(TestBytes.Of(length), Cache.Get("key"));
    }

    [Fact]
    public void Leased_key_has_no_value()
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease);

        Assert.False(Cache.Contains("key"));
        Assert.Null(Cache.Get("key"));
        Assert.False(Cache.TryGetStale("key", new byte[8], out _));
        Assert.False(Cache.TryPin("key", out _));
        Assert.Equal(WriteStatus.NotFound, Cache.Replace("key", "x"u8));
        Assert.Equal(WriteStatus.NotFound, Cache.Append("key", "x"u8));
        Assert.Equal(WriteStatus.NotFound, Cache.Touch("key", Long));
        Assert.Equal(WriteStatus.NotFound, Cache.Increment("key", 1, out _));
        Assert.True(lease!.IsHeld);
        lease.Dispose();
    }

    public static TheoryData<string> Cancellations => ["set", "set large", "add", "remove", "clear", "increment", "set past"];

    [Theory]
    [MemberData(nameof(Cancellations))]
    public void Write_removal_or_clearing_ends_the_lease(string cancellation)
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease);
        CairnStore other = OpenAgain();
        CairnCollection cache = other.DefaultCollection;

        switch (cancellation)
        {
            case "set":
                cache.Set("key", "1"u8);
                break;
            case "set large":
                cache.Set("key", new byte[300_000]);
                break;
            case "add":
                Assert.Equal(WriteStatus.Stored, cache.Add("key", "1"u8));
                break;
            case "remove":
                Assert.False(cache.Remove("key"));
                break;
            case "clear":
                cache.Clear();
                break;
            case "increment":
                Assert.Equal(WriteStatus.Stored, cache.Increment("key", 1, out _, initialValue: 1));
                break;
            default:
                cache.Set("key", "1"u8, Expiration.At(DateTimeOffset.UnixEpoch));
                break;
        }

        byte[]? before = Cache.Get("key");
        Assert.False(lease!.IsHeld);
        Assert.False(lease.TrySet("late"u8));
        Assert.Equal(before, Cache.Get("key"));
        lease.Dispose();
        Assert.Equal(before, Cache.Get("key"));
    }

    [Fact]
    public void Clearing_another_collection_cancels_nothing()
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease);

        Store.Collection("other").Set("key", "x"u8);
        Store.Collection("other").Clear();

        Assert.True(lease!.TrySet("value"u8));
    }

    [Fact]
    public async Task Waiter_gets_the_value_when_it_is_set()
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease);
        CairnStore other = OpenAgain();
        Task<LeaseStatus>[] waiters =
        [
            .. Enumerable.Range(0, 3).Select(i => OwnThread.Run(
                () => (i == 0 ? Store : other).DefaultCollection.AcquireLease("key", i == 1 ? Timeout.InfiniteTimeSpan : Long, out _))),
        ];

        lease!.TrySet("value"u8);

        Assert.All(await Task.WhenAll(waiters), status => Assert.Equal(LeaseStatus.Hit, status));
    }

    [Fact]
    public async Task One_waiter_gets_the_lease_when_it_is_given_back()
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease);
        Task<(LeaseStatus Status, StoreLease? Lease)>[] waiters =
        [
            .. Enumerable.Range(0, 3).Select(_ => OwnThread.Run(() =>
            {
                LeaseStatus status = Cache.AcquireLease("key", Long, out StoreLease? mine);
                if (status == LeaseStatus.Acquired)
                {
                    Assert.True(mine!.TrySet("value"u8));
                }

                return (status, mine);
            })),
        ];

        lease!.Dispose();

        LeaseStatus[] statuses = [.. (await Task.WhenAll(waiters)).Select(waiter => waiter.Status)];
        Assert.Single(statuses, LeaseStatus.Acquired);
        Assert.Equal(2, statuses.Count(status => status == LeaseStatus.Hit));
    }

    [Fact]
    public void Lease_is_taken_over_when_its_time_is_up()
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? first);

        Clock.Advance(StoreLease.Duration - TimeSpan.FromMilliseconds(1));
        Assert.Equal(LeaseStatus.Held, Cache.AcquireLease("key", TimeSpan.Zero, out _));
        Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(first!.IsHeld);
        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? second));

        Assert.False(first.TrySet("late"u8));
        Assert.True(second!.TrySet("value"u8));
        Assert.Equal("value", Cache.GetString("key"));
    }

    [Fact]
    public void Lease_is_taken_over_when_its_store_was_closed()
    {
        CairnStore closing = Open(Options);
        Assert.Equal(LeaseStatus.Acquired, closing.DefaultCollection.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease));
        Assert.Equal(LeaseStatus.Held, Cache.AcquireLease("key", TimeSpan.Zero, out _));

        closing.Dispose();

        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? mine));
        Assert.Throws<ObjectDisposedException>(() => lease!.TrySet("late"u8));
        lease!.Dispose();
        Assert.True(mine!.TrySet("value"u8));
    }

    [Fact]
    public void Lease_of_a_closed_store_is_not_revived_by_the_next_holder_of_its_slot()
    {
        CairnStore closing = Open(Options);
        CairnStore keeping = Open(Options);
        closing.DefaultCollection.AcquireLease("key", TimeSpan.Zero, out _);
        closing.Dispose();
        CairnStore next = Open(Options);

        Assert.Equal(LeaseStatus.Acquired, keeping.DefaultCollection.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease));

        lease!.Dispose();
        next.Dispose();
    }

    [Fact]
    public void Lease_is_taken_over_when_its_process_was_killed()
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "hold-lease", FilePath, "key");
        Assert.Equal("Acquired", child.ReadLine());
        Assert.Equal(LeaseStatus.Held, Cache.AcquireLease("key", TimeSpan.Zero, out _));

        child.Kill();

        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease));
        Assert.True(lease!.TrySet("value"u8));
    }

    [Theory]
    [InlineData(5)]
    [InlineData(4000)]
    public void Stale_value_stays_readable_while_a_lease_is_held(int length)
    {
        byte[] value = TestBytes.Of(length);
        Cache.Set("key", value, TimeSpan.FromSeconds(1), flags: 5);
        Clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease));

        var destination = new byte[length];
        Assert.True(Cache.TryGetStale("key", destination, out EntryInfo info));
        Assert.Equal(value, destination);
        Assert.Equal(5u, info.Flags);
        Assert.Equal(Clock.Now, info.ExpiresAt);
        Assert.False(Cache.Contains("key"));
        Assert.Equal(LeaseStatus.Held, Cache.AcquireLease("key", TimeSpan.Zero, out _));

        lease!.Dispose();
        Assert.True(Cache.TryGetStale("key", destination, out _));
        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("key", TimeSpan.Zero, out lease));
        Assert.True(lease!.TrySet("new"u8));
        Assert.Equal("new", Cache.GetString("key"));
        Assert.True(Cache.TryGetStale("key", new byte[length], out info));
        Assert.Equal(3, info.ValueBytes);
    }

    [Fact]
    public void Lease_survives_the_eviction_of_others()
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease);

        for (int i = 0; i < 1000; i++)
        {
            Cache.Set($"key {i}", TestBytes.Of(1000));
        }

        Assert.True(lease!.TrySet("value"u8));
    }

    [Fact]
    public void Negative_wait_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(
            () => Cache.AcquireLease("key", TimeSpan.FromMilliseconds(-2), out _));
    }

    [Fact]
    public void Lease_with_a_value_that_is_too_long_is_still_held()
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease);

        Assert.Throws<ArgumentOutOfRangeException>(() => lease!.TrySet(new byte[Store.MaxValueBytes + 1]));

        Assert.True(lease!.IsHeld);
        Assert.True(lease.TrySet("value"u8));
    }
}
