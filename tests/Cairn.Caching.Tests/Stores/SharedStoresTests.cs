using Cairn.Caching.Stores;

namespace Cairn.Caching.Tests.Stores;

/// <summary>Caches of one process over one file share one opening of it.</summary>
public sealed class SharedStoresTests : IDisposable
{
    private readonly StoreDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void File_is_opened_once_and_closed_when_the_last_gives_it_back()
    {
        StoreHandle first = SharedStores.Open(_directory.Options);
        StoreHandle second = SharedStores.Open(_directory.Options with { CapacityBytes = 16L << 20 });
        Assert.Same(first.Store, second.Store);

        first.Dispose();
        first.Dispose();
        Assert.True(second.Store.DefaultCollection.Set("key", "value"u8));

        second.Dispose();
        Assert.Throws<ObjectDisposedException>(() => second.Store.DefaultCollection.Get("key"));
    }

    [Fact]
    public void Relative_path_and_full_path_are_the_same_file()
    {
        string relative = Path.GetRelativePath(Environment.CurrentDirectory, _directory.FilePath);

        using StoreHandle first = SharedStores.Open(_directory.Options);
        using StoreHandle second = SharedStores.Open(_directory.Options with { Path = relative });

        Assert.Same(first.Store, second.Store);
    }

    [Fact]
    public void Openings_with_other_clocks_lock_time_outs_or_ways_of_closing_are_apart()
    {
        using StoreHandle first = SharedStores.Open(_directory.Options);
        StoreOptions[] others =
        [
            _directory.Options with { TimeProvider = new ManualClock() },
            _directory.Options with { LockTimeout = TimeSpan.FromSeconds(2) },
            _directory.Options with { FlushOnClose = true },
        ];

        foreach (StoreOptions options in others)
        {
            using StoreHandle other = SharedStores.Open(options);

            Assert.NotSame(first.Store, other.Store);
            Assert.Equal(options.LockTimeout, other.Store.Options.LockTimeout);
        }
    }

    [Fact]
    public void File_that_was_deleted_meanwhile_is_created_again_by_the_next_opening()
    {
        using StoreHandle first = SharedStores.Open(_directory.Options);
        first.Store.DefaultCollection.Set("key", "value"u8);
        File.Delete(_directory.FilePath);

        using (StoreHandle second = SharedStores.Open(_directory.Options))
        {
            Assert.NotSame(first.Store, second.Store);
            Assert.Null(second.Store.DefaultCollection.Get("key"));

            first.Dispose();
            using StoreHandle third = SharedStores.Open(_directory.Options);
            Assert.Same(second.Store, third.Store);
        }
    }

    [Fact]
    public void Failure_is_reported_and_the_next_attempt_starts_over()
    {
        string directory = _directory["later"];
        StoreOptions options = _directory.Options with { Path = Path.Combine(directory, "store.cairn") };
        Assert.Throws<DirectoryNotFoundException>(() => SharedStores.Open(options));

        Directory.CreateDirectory(directory);
        using StoreHandle handle = SharedStores.Open(options);

        Assert.True(handle.Store.DefaultCollection.Set("key", "value"u8));
    }

    [Fact]
    public void New_file_is_never_shared_with_an_opening_of_an_old_one()
    {
        using StoreHandle first = SharedStores.Open(_directory.Options);

        Assert.Throws<StoreException>(() => SharedStores.Open(_directory.Options with { OpenMode = StoreOpenMode.CreateNew }));
    }

    [Fact]
    public void Store_of_the_application_stays_open()
    {
        using var store = CairnStore.Open(_directory.Options);

        StoreHandle.Borrow(store).Dispose();

        Assert.True(store.DefaultCollection.Set("key", "value"u8));
    }

    [Fact]
    public async Task Threads_that_open_and_close_at_once_always_have_an_open_store_and_leave_none()
    {
        await Task.WhenAll(Enumerable.Range(0, 4).Select(thread => OwnThread.Run(() =>
        {
            for (int i = 0; i < 50; i++)
            {
                using StoreHandle handle = SharedStores.Open(_directory.Options);
                Assert.True(handle.Store.DefaultCollection.Set($"key:{thread}", "value"u8));
            }
        })));

        using var store = CairnStore.Open(_directory.Options);
        Assert.False(store.Engine.Owners.AnyOtherAlive());
    }
}
