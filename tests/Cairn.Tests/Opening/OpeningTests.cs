using Cairn.Platform;

namespace Cairn.Tests.Opening;

/// <summary>Creating, opening, closing and opening again.</summary>
public sealed class OpeningTests : StoreTest
{
    private const string AnotherBoot = "11111111-2222-3333-4444-555555555555";

    [Fact]
    public void Written_entries_are_there_when_the_store_is_opened_again()
    {
        CairnStore first = Open(Options);
        first.DefaultCollection.Set("small", "value"u8, TimeSpan.FromHours(1), flags: 5);
        first.DefaultCollection.Set("large", TestBytes.Of(300_000));
        first.Collection("books").Set("42", "Dune"u8);
        first.Dispose();

        CairnStore second = Open(Options with { FlushOnClose = true });
        Assert.Equal("value", second.DefaultCollection.GetString("small"));
        second.Dispose();

        Assert.Equal("value", Cache.GetString("small"));
        Cache.TryGetInfo("small", out EntryInfo info);
        Assert.Equal(5u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromHours(1), info.ExpiresAt);
        Assert.Equal(TestBytes.Of(300_000), Cache.Get("large"));
        Assert.Equal("Dune", Store.Collection("books").GetString("42"));
        Assert.Empty(Store.Warnings);
    }

    [Fact]
    public void Versions_continue_to_grow_after_the_store_was_opened_again()
    {
        CairnStore first = Open(Options);
        first.DefaultCollection.Set("key", "1"u8);
        first.DefaultCollection.TryGetInfo("key", out EntryInfo before);
        first.Dispose();

        Cache.Set("key", "2"u8);

        Cache.TryGetInfo("key", out EntryInfo after);
        Assert.True(after.Version > before.Version);
    }

    [Fact]
    public void Operations_after_closing_are_refused()
    {
        CairnStore store = Open(Options);
        CairnCollection cache = store.DefaultCollection;
        cache.Set("key", "value"u8);
        CairnCollection books = store.Collection("books");
        cache.AcquireLease("lease", TimeSpan.Zero, out StoreLease? lease);
        store.Dispose();
        store.Dispose();

        Action[] operations =
        [
            () => cache.Get("key"),
            () => cache.TryGet("key", new byte[8], out int _),
            () => cache.TryGetStale("key", new byte[8], out _),
            () => cache.Contains("key"),
            () => cache.GetMany([], [], []),
            () => cache.TryPin("key", out _),
            () => cache.Read("key", 0, (_, _, _) => { }),
            () => cache.Set("key", "x"u8),
            () => cache.Set("key", new MemoryStream([1]), 1),
            () => cache.SetMany([]),
            () => cache.Add("key", "x"u8),
            () => cache.Append("key", "x"u8),
            () => cache.Increment("key", 1, out _),
            () => cache.Touch("key", Expiration.None),
            () => cache.Remove("key"),
            () => cache.Clear(),
            () => store.ClearAll(),
            () => cache.AcquireLease("key", TimeSpan.Zero, out _),
            () => cache.Entries(),
            () => store.GetStatistics(),
            () => store.GetBiggestKeys(1),
            () => store.GetSizeHistogram(),
            () => store.Collection("books"),
            () => _ = store.CollectionNames,
            () => cache.PartitionOf("key"),
            () => cache.HashOf("key"),
            () => store.GetInvalidationCursor(0),
            () => books.Get("key"),
            () => books.Set("key", "x"u8),
            () => lease!.TrySet("x"u8),
            () => _ = lease!.IsHeld,
        ];
        foreach (Action operation in operations)
        {
            Assert.Throws<ObjectDisposedException>(operation);
        }

        lease!.Dispose();
        Assert.Equal("value", Cache.GetString("key"));
    }

    [Fact]
    public void Open_modes_say_whether_the_file_must_be_there()
    {
        Assert.Throws<FileNotFoundException>(() => Open(Options with { OpenMode = StoreOpenMode.OpenExisting }));
        Assert.False(File.Exists(FilePath));

        Open(Options with { OpenMode = StoreOpenMode.CreateNew }).DefaultCollection.Set("key", "value"u8);

        var exists = Assert.Throws<StoreException>(() => Open(Options with { OpenMode = StoreOpenMode.CreateNew }));
        Assert.Contains(FilePath, exists.Message, StringComparison.Ordinal);
        Assert.Equal("value", Open(Options with { OpenMode = StoreOpenMode.OpenExisting }).DefaultCollection.GetString("key"));
        Assert.Equal("value", Open(Options with { OpenMode = StoreOpenMode.OpenOrCreate }).DefaultCollection.GetString("key"));
    }

    [Fact]
    public void Empty_file_becomes_a_store_unless_one_must_exist()
    {
        File.WriteAllBytes(FilePath, []);

        Assert.Throws<StoreCorruptException>(() => Open(Options with { OpenMode = StoreOpenMode.OpenExisting }));
        Assert.Equal(0, new FileInfo(FilePath).Length);
        Assert.True(Open(Options).DefaultCollection.Set("key", "value"u8));
        Assert.Equal("value", Cache.GetString("key"));
    }

    [Fact]
    public void Missing_directory_is_reported()
    {
        Assert.Throws<DirectoryNotFoundException>(() => Open(Options with { Path = PathOf("missing/store.cairn") }));
    }

    [Fact]
    public void Directory_is_no_store()
    {
        Assert.ThrowsAny<IOException>(() => Open(Options with { Path = DirectoryPath }));
    }

    [Fact]
    public void File_that_is_no_store_is_refused_and_left_alone()
    {
        byte[] content = TestBytes.Of(100_000);
        File.WriteAllBytes(FilePath, content);

        var refused = Assert.Throws<StoreCorruptException>(() => Open(Options));

        Assert.Equal(0, refused.Offset);
        Assert.Equal(FilePath, refused.File);
        Assert.Equal(content, File.ReadAllBytes(FilePath));
    }

    [Fact]
    public void Store_of_another_version_is_refused_and_left_alone()
    {
        Open(Options).Dispose();
        WriteAt(8, [99, 0, 0, 0]);

        var refused = Assert.Throws<StoreVersionException>(() => Open(Options));

        Assert.Equal(99, refused.FoundVersion);
        Assert.Equal(1, refused.SupportedVersion);
    }

    [Fact]
    public void Feature_that_this_version_does_not_know_is_refused()
    {
        Open(Options).Dispose();
        WriteAt(12, [1]);

        Assert.Throws<StoreCorruptException>(() => Open(Options));
    }

    [Fact]
    public void Restart_of_the_machine_without_a_clean_close_empties_the_store()
    {
        CairnStore first = Open(Options with { FlushOnClose = false });
        first.DefaultCollection.Set("key", "value"u8);
        first.Collection("books").Set("42", "Dune"u8);
        first.DefaultCollection.TryGetInfo("key", out EntryInfo before);
        first.Dispose();
        Clock.Advance(TimeSpan.FromSeconds(1));

        CairnStore second = OpenAfterRestart(Options);
        CairnCollection cache = second.DefaultCollection;

        Assert.Contains("restarted", Assert.Single(second.Warnings), StringComparison.Ordinal);
        Assert.False(cache.Contains("key"));
        Assert.Empty(second.CollectionNames);
        Assert.False(second.Collection("books").Contains("42"));
        Assert.Equal(0, second.GetStatistics().Totals.Entries);
        Assert.True(cache.Set("key", "new"u8));
        cache.TryGetInfo("key", out EntryInfo after);
        Assert.True(after.Version > before.Version);
        for (int i = 0; i < 5000; i++)
        {
            Assert.True(cache.Set($"{i}", TestBytes.Of(3000)));
        }
    }

    [Fact]
    public void Restart_of_the_machine_after_a_clean_close_keeps_the_store_warm()
    {
        CairnStore first = Open(Options with { FlushOnClose = true });
        first.DefaultCollection.Set("key", "value"u8);
        first.Dispose();

        CairnStore second = OpenAfterRestart(Options with { FlushOnClose = false });
        Assert.Empty(second.Warnings);
        Assert.Equal("value", second.DefaultCollection.GetString("key"));
        second.Dispose();

        // The store was opened since, and not closed cleanly.
        Assert.False(Open(Options).DefaultCollection.Contains("key"));
    }

    [Fact]
    public void Only_the_last_to_close_marks_the_store_as_closed()
    {
        CairnStore first = Open(Options with { FlushOnClose = true });
        CairnStore second = Open(Options with { FlushOnClose = false });
        first.DefaultCollection.Set("key", "value"u8);
        first.Dispose();
        second.Dispose();

        Assert.False(OpenAfterRestart(Options).DefaultCollection.Contains("key"));
    }

    [Fact]
    public void Killed_process_leaves_a_store_that_is_warm_on_the_same_boot_and_empty_after_a_restart()
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "hold-store", FilePath);
        Assert.Equal("opened", child.ReadLine());
        child.WriteLine("set key value");
        Assert.Equal("True", child.ReadLine());

        child.Kill();

        CairnStore same = Open(Options);
        Assert.Equal("value", same.DefaultCollection.GetString("key"));
        same.Dispose();
        Assert.False(OpenAfterRestart(Options).DefaultCollection.Contains("key"));
    }

    [Fact]
    public void Opening_256_is_a_clear_error_and_disturbs_no_other_opening()
    {
        var stores = new List<CairnStore>();
        for (int i = 0; i < 255; i++)
        {
            stores.Add(Open(Options));
        }

        var refused = Assert.Throws<StoreException>(() => Open(Options));

        Assert.Contains("255", refused.Message, StringComparison.Ordinal);
        Assert.True(stores[254].DefaultCollection.Set("key", "value"u8));
        Assert.Equal("value", stores[0].DefaultCollection.GetString("key"));
        Assert.Equal(255, stores[0].GetStatistics().Openings);
        stores[100].Dispose();
        Assert.Equal("value", Open(Options).DefaultCollection.GetString("key"));
    }

    [Fact]
    public void Two_processes_see_each_others_writes_at_once()
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "hold-store", FilePath);
        Assert.Equal("opened", child.ReadLine());
        Cache.Set("mine", "1"u8);

        child.WriteLine("get mine");
        Assert.Equal("1", child.ReadLine());
        child.WriteLine("set theirs 2");
        Assert.Equal("True", child.ReadLine());
        Assert.Equal("2", Cache.GetString("theirs"));
        Assert.Equal(2, Store.GetStatistics().Openings);

        Assert.Equal(0, child.Finish());
        Assert.Equal("2", Cache.GetString("theirs"));
        Assert.Equal(1, Store.GetStatistics().Openings);
    }

    [Fact]
    public void Deleted_file_is_created_again_while_processes_that_have_it_open_continue()
    {
        Cache.Set("key", "old"u8);
        File.Delete(FilePath);

        CairnStore fresh = Open(Options);
        CairnCollection cache = fresh.DefaultCollection;

        Assert.False(cache.Contains("key"));
        cache.Set("key", "new"u8);
        Assert.Equal("old", Cache.GetString("key"));
        Assert.Equal("new", cache.GetString("key"));
    }

    [Fact]
    public void Refused_file_system_is_named_before_anything_is_written()
    {
        StorePlatform.RefusedFileSystemOverride = "NFS";
        try
        {
            var refused = Assert.Throws<StoreUnsupportedFileSystemException>(() => Open(Options));
            Assert.Equal("NFS", refused.FileSystem);
        }
        finally
        {
            StorePlatform.RefusedFileSystemOverride = null;
        }

        Assert.Empty(Directory.EnumerateFileSystemEntries(DirectoryPath));
    }

    [Fact]
    public async Task Many_may_create_one_store_at_the_same_moment()
    {
        CairnStore[] stores = await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => OwnThread.Run(() => CairnStore.Open(Options))));

        stores[0].DefaultCollection.Set("key", "value"u8);

        Assert.All(stores, store => Assert.Equal("value", store.DefaultCollection.GetString("key")));
        foreach (CairnStore store in stores)
        {
            store.Dispose();
        }

        Assert.Equal(["store.cairn"], Directory.EnumerateFiles(DirectoryPath).Select(Path.GetFileName));
    }

    private CairnStore OpenAfterRestart(StoreOptions options)
    {
        StorePlatform.BootIdOverride = AnotherBoot;
        try
        {
            return Open(options);
        }
        finally
        {
            StorePlatform.BootIdOverride = null;
        }
    }

    private void WriteAt(long offset, byte[] bytes)
    {
        using FileStream file = File.OpenWrite(FilePath);
        file.Position = offset;
        file.Write(bytes);
    }
}
