using Cairn.Platform;
using Cairn.WriteAhead;

namespace Cairn.Tests.WriteAhead;

/// <summary>Collections whose writes are in the log.</summary>
public sealed class StoreLogTests : StoreTest
{
    private static readonly CollectionOptions Logged = new() { Region = StoreRegion.Keep };
    private static readonly CollectionOptions Urgent = Logged with { Durability = Durability.EveryOperation };

    // Only a test that has failed waits as long.
    private static readonly TimeSpan LongestFlush = TimeSpan.FromMinutes(1);

    private readonly FaultyPlatform _platform = new();

    [Fact]
    public void Store_without_logged_collections_has_no_log()
    {
        Cache.Set("key", [1]);
        Store.Collection("kept", new CollectionOptions { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash }).Set("key", [2]);
        Store.ClearAll();
        Store.Flush();

        Assert.Empty(LogFileSet.Names(Cairn.Platform.HostPlatform.Current, FilePath));
    }

    [Fact]
    public void Log_says_what_every_operation_did()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        CairnCollection orders = Store.Collection("orders", Urgent);
        accounts.Set("a", [1]);
        accounts.Set("a", [2], Expiration.After(TimeSpan.FromHours(1)));
        accounts.Set("b", TestBytes.Of(5_000));
        accounts.Set("gone", [3]);
        accounts.Remove("gone");
        accounts.Remove("never there");
        accounts.Add("added", [4]);
        accounts.Add("added", [5]);
        accounts.Append("added", [6]);
        accounts.Prepend("added", [7]);
        accounts.Touch("added", Expiration.After(TimeSpan.FromHours(2)));
        accounts.Set("number", "41"u8);
        accounts.Increment("number", 1, out _);
        accounts.Set("past", [1]);
        accounts.Set("past", [1], Expiration.At(Clock.GetUtcNow().AddSeconds(-1)));
        orders.Set("large", TestBytes.Of(600_000));
        orders.Append("large", TestBytes.Of(100_000));
        Cache.Set("a", [9]);

        LogReplay.Check(Store, accounts, orders);
        Assert.Equal(3, accounts.Get("added")!.Length);
        Assert.Equal(700_000, orders.Get("large")!.Length);
    }

    [Fact]
    public void Clearing_is_one_record()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        CairnCollection orders = Store.Collection("orders", Logged);
        for (int i = 0; i < 100; i++)
        {
            accounts.Set($"{i}", [1]);
            orders.Set($"{i}", [2]);
        }

        Assert.True(accounts.Clear());
        accounts.Set("after", [3]);

        LogReplay.Check(Store, accounts, orders);
        Assert.Equal(1, LogReplay.Of(FilePath).Kinds.Count(kind => kind == LogKind.Clear));
        Assert.Null(accounts.Get("5"));
        Assert.NotNull(orders.Get("5"));

        Assert.True(Store.ClearAll());
        LogReplay.Check(Store, accounts, orders);
        Assert.Empty(orders.Entries());
    }

    [Fact]
    public void Lease_is_not_in_the_log_and_its_value_is()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        Assert.Equal(LeaseStatus.Acquired, accounts.AcquireLease("a", TimeSpan.Zero, out StoreLease? lease));
        Assert.DoesNotContain(LogKind.Put, LogReplay.Of(FilePath).Kinds);

        Assert.Equal(WriteStatus.Stored, lease!.Set([1], Expiration.None, 0));
        lease?.Dispose();

        LogReplay.Check(Store, accounts);
    }

    [Fact]
    public void Log_continues_in_the_next_file_when_one_is_full()
    {
        using CairnStore store = Open(Options with { LogFileBytes = StoreLimits.MinLogFileBytes });
        CairnCollection accounts = store.Collection("accounts", Logged);
        for (int i = 0; i < 1_000; i++)
        {
            accounts.Set($"{i % 100}", TestBytes.Of(1 + (i % 999), seed: i));
        }

        accounts.Set("longer than a file", TestBytes.Of(200_000));
        accounts.Set("last", [1]);

        IReadOnlyList<string> names = LogFileSet.Names(Cairn.Platform.HostPlatform.Current, FilePath);
        Assert.True(names.Count > 5);
        Assert.All(names, name => Assert.True(new FileInfo(PathOf(name)).Length >= StoreLimits.MinLogFileBytes));
        LogReplay.Check(store, accounts);
    }

    [Fact]
    public void Store_that_was_closed_continues_with_its_log()
    {
        Store.Collection("accounts", Logged).Set("a", [1]);
        long end = LogReplay.Of(FilePath).End;
        Store.Dispose();

        using CairnStore again = OpenAgain();
        CairnCollection accounts = again.Collection("accounts", Logged);
        accounts.Set("b", [2]);

        LogReplay.Check(again, accounts);
        Assert.True(LogReplay.Of(FilePath).End > end);
    }

    [Fact]
    public void Two_openings_share_one_log()
    {
        CairnStore other = OpenAgain();
        CairnCollection accounts = Store.Collection("accounts", Logged);
        CairnCollection theirs = other.Collection("accounts");
        Parallel.For(0, 4, worker =>
        {
            for (int i = 0; i < 200; i++)
            {
                CairnCollection collection = (worker & 1) == 0 ? accounts : theirs;
                collection.Set($"{i % 50}", TestBytes.Of(100 + worker, seed: i));
                if (i % 7 == 0)
                {
                    collection.Remove($"{(i + 3) % 50}");
                }
            }
        });

        LogReplay.Check(Store, accounts);
    }

    [Fact]
    public void Write_returns_when_its_record_is_on_the_disk()
    {
        CairnStore store = Open(_platform);
        CairnCollection accounts = store.Collection("accounts", Urgent);
        for (int i = 0; i < 10; i++)
        {
            int before = _platform.Flushes;
            accounts.Set($"{i}", [1]);
            Assert.Equal(before + 1, _platform.Flushes);
            Assert.Equal(store.Engine.WriteAhead.Tail, store.Engine.WriteAhead.Durable);
        }

        store.Flush();
    }

    [Fact]
    public void Group_is_brought_to_the_disk_at_once()
    {
        const int Threads = 16;
        const int Writes = 50;
        CairnStore store = Open(_platform);
        CairnCollection accounts = store.Collection("accounts", Logged);
        int writing = 0;
        int unfinished = Threads;
        _platform.OnFlush = () => SpinWait.SpinUntil(() => Volatile.Read(ref writing) >= Volatile.Read(ref unfinished), LongestFlush);
        int before = _platform.Flushes;

        // A flush lasts until every thread writes. So the next flush finds the records of those that came meanwhile.
        Run(Threads, thread =>
        {
            for (int i = 0; i < Writes; i++)
            {
                Interlocked.Increment(ref writing);
                accounts.Set($"{thread} {i}", [1]);
                Interlocked.Decrement(ref writing);
            }

            Interlocked.Decrement(ref unfinished);
        });

        Assert.InRange(_platform.Flushes - before, Writes, Threads * Writes / 4);
        Assert.Equal(store.Engine.WriteAhead.Tail, store.Engine.WriteAhead.Durable);
        LogReplay.Check(store, accounts);
    }

    [Fact]
    public void Failed_synchronisation_makes_the_store_read_only()
    {
        CairnStore store = Open(_platform);
        CairnCollection accounts = store.Collection("accounts", Logged);
        CairnCollection cache = store.Collection("cache");
        accounts.Set("a", [1]);
        _platform.OnFlush = () => throw FaultyPlatform.Failed("Synchronising");

        Assert.Throws<StoreReadOnlyException>(() => accounts.Set("b", [2]));
        _platform.OnFlush = null;
        Assert.Throws<StoreReadOnlyException>(() => accounts.Set("c", [3]));
        Assert.Throws<StoreReadOnlyException>(() => accounts.Remove("a"));
        Assert.Throws<StoreReadOnlyException>(() => accounts.Clear());
        Assert.Throws<StoreReadOnlyException>(store.Flush);

        Assert.Equal([1], accounts.Get("a"));
        Assert.Null(accounts.Get("c"));
        Assert.True(cache.Set("d", [4]));
        Assert.Equal([4], cache.Get("d"));
        StoreAudit.Check(store);
    }

    [Fact]
    public void Every_waiting_writer_gets_the_failure_of_the_disk()
    {
        CairnStore store = Open(_platform);
        CairnStore other = Open(Options);
        CairnCollection accounts = store.Collection("accounts", Logged);
        accounts.Set("a", [1]);
        _platform.OnFlush = () =>
        {
            Thread.Sleep(20); // As a disk that fails after some time. Writers that come later get the same error.
            throw FaultyPlatform.Failed("Synchronising");
        };

        int told = 0;
        Run(8, thread =>
        {
            Assert.Throws<StoreReadOnlyException>(() => accounts.Set($"{thread}", [1]));
            Interlocked.Increment(ref told);
        });

        Assert.Equal(8, told);
        Assert.Throws<StoreReadOnlyException>(() => other.Collection("accounts").Set("x", [1]));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Directory_that_is_gone_or_closed_to_the_user_stops_durable_writes_until_it_is_back(bool isGone)
    {
        using CairnStore store = _platform.OpenStore(Options with { LogFileBytes = StoreLimits.MinLogFileBytes });
        CairnCollection accounts = store.Collection("accounts", Logged);
        CairnCollection cache = store.Collection("cache");
        accounts.Set("a", [1]);
        _platform.OnCreate = () => throw (isGone ? new DirectoryNotFoundException("The directory is gone.") : new UnauthorizedAccessException("The user may not write."));
        int written = 0;
        var refused = Assert.Throws<StoreException>(() =>
        {
            for (; written < 1_000; written++)
            {
                accounts.Set($"{written}", TestBytes.Of(1_000));
            }
        });

        Assert.Contains("cannot continue", refused.Message, StringComparison.Ordinal);
        Assert.Null(accounts.Get($"{written}"));
        Assert.Equal([1], accounts.Get("a"));
        Assert.True(cache.Set("b", [2]));
        Assert.Equal(0, store.GetStatistics().Totals.Recoveries);
        _platform.OnCreate = null;
        accounts.Set($"{written}", [3]);
        LogReplay.Check(store, accounts);
        StoreAudit.Check(store);
    }

    [Fact]
    public void Write_for_which_the_disk_has_no_room_changes_nothing()
    {
        CairnStore store = _platform.OpenStore(Options with { LogFileBytes = StoreLimits.MinLogFileBytes });
        using (store)
        {
            CairnCollection accounts = store.Collection("accounts", Logged);
            accounts.Set("a", [1]);
            _platform.OnPreallocate = () => throw FaultyPlatform.Failed("Making room");
            int written = 0;
            var full = Assert.Throws<StoreFullException>(() =>
            {
                for (; written < 1_000; written++)
                {
                    accounts.Set($"{written}", TestBytes.Of(1_000));
                }
            });

            Assert.InRange(written, 40, 62);
            Assert.Contains("Making room failed", full.Message, StringComparison.Ordinal);
            Assert.Null(accounts.Get($"{written}"));
            Assert.Equal([1], accounts.Get("a"));
            Assert.Throws<StoreFullException>(() => accounts.Set("a", TestBytes.Of(1_000)));
            Assert.Equal([1], accounts.Get("a"));
            LogReplay.Check(store, accounts);
            Assert.Equal(0, store.GetStatistics().Partitions.Sum(partition => partition.Recoveries));

            _platform.OnPreallocate = null;
            Assert.True(accounts.Set("a", TestBytes.Of(1_000)));
            LogReplay.Check(store, accounts);
            StoreAudit.Check(store);
        }
    }

    [Fact]
    public void Write_that_the_disk_does_not_take_changes_nothing()
    {
        CairnStore store = Open(_platform);
        CairnCollection accounts = store.Collection("accounts", Logged);
        accounts.Set("a", [1]);
        _platform.OnWrite = () => throw FaultyPlatform.Failed("Writing");

        Assert.Throws<StoreException>(() => accounts.Set("a", [2]));
        Assert.Throws<StoreException>(() => accounts.Remove("a"));
        Assert.Throws<StoreException>(() => { accounts.Clear(); });

        Assert.Equal([1], accounts.Get("a"));
        _platform.OnWrite = null;
        accounts.Set("b", [2]);
        LogReplay.Check(store, accounts);
        StoreAudit.Check(store);
    }

    [Fact]
    public async Task Flush_without_a_thread_ends_when_everything_is_on_the_disk()
    {
        CairnStore store = Open(_platform);
        CairnCollection accounts = store.Collection("accounts", Logged);
        accounts.Set("a", [1]);
        await store.FlushAsync();

        Assert.Equal(store.Engine.WriteAhead.Tail, store.Engine.WriteAhead.Durable);
    }

    [Fact]
    public void Closing_brings_everything_to_the_disk()
    {
        CairnStore store = Open(_platform);
        CairnCollection accounts = store.Collection("accounts", Logged);
        Cairn.Engine.StoreEngine.BeginDeferring();
        accounts.Set("a", [1]);
        Assert.NotEqual(0, Cairn.Engine.StoreEngine.EndDeferring());
        int before = _platform.Flushes;

        store.Dispose();

        Assert.Equal(before + 1, _platform.Flushes);
    }

    private CairnStore Open(FaultyPlatform platform)
    {
        HostPlatform.Override = platform;
        try
        {
            return Open(Options);
        }
        finally
        {
            HostPlatform.Override = null;
        }
    }

    private static void Run(int threads, Action<int> action)
    {
        var failures = new System.Collections.Concurrent.ConcurrentQueue<Exception>();
        List<Thread> all = [.. Enumerable.Range(0, threads).Select(number => new Thread(() =>
        {
            try
            {
                action(number);
            }
            catch (Exception failure) when (failure is not OutOfMemoryException)
            {
                failures.Enqueue(failure);
            }
        }))];
        all.ForEach(thread => thread.Start());
        all.ForEach(thread => thread.Join());
        Assert.Empty(failures);
    }
}
