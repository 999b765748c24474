using Cairn.Tests.Storage;
using Cairn.Tests.WriteAhead;

namespace Cairn.Tests.Snapshots;

/// <summary>Backups of stores in use, and stores restored from them.</summary>
public sealed class BackupTests : LoggedStoreTest
{
    private string BackupPath => PathOf("books.backup");

    private StoreOptions NewOptions => Small with { Path = PathOf("new.cairn") };

    [Fact]
    public void Restored_store_has_every_collection_with_its_options_and_entries()
    {
        CairnStore store = Open(Small);
        store.DefaultCollection.Set("own", "x"u8, flags: 3);
        store.Collection("cache", new CollectionOptions { DefaultExpiration = Expiration.After(TimeSpan.FromHours(1)) }).Set("cached", "y"u8);
        store.Collection("unlogged", Logged with { Durability = Durability.ProcessCrash }).Set("kept", "z"u8);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        byte[] value = TestBytes.Of(100_000);
        store.Collection("books").Set("long", value);

        BackupReport written = store.Backup(BackupPath);
        RestoreReport made = StoreMaintenance.Restore(BackupPath, NewOptions);

        Assert.Equal((5, 0), (written.Entries, written.Changes));
        Assert.Equal(new FileInfo(BackupPath).Length, written.Bytes);
        Assert.Equal((5, new FileInfo(NewOptions.Path).Length), (made.Entries, made.Bytes));
        CairnStore restored = Open(NewOptions);
        Assert.Empty(restored.Warnings);
        Assert.Equal("x", restored.DefaultCollection.GetString("own"));
        Assert.True(restored.DefaultCollection.TryGetInfo("own", out EntryInfo info));
        Assert.Equal(3u, info.Flags);
        Assert.Equal("z", TextOf(restored.Collection("unlogged"), "kept"));
        Assert.Equal("Dune", TextOf(restored.Collection("books", Logged), "42"));
        Assert.Equal(value, restored.Collection("books").Get("long"));
        Clock.Advance(TimeSpan.FromHours(2));
        Assert.Null(restored.Collection("cache").Get("cached"));
        StoreAudit.Check(restored);
        Assert.True(StoreMaintenance.Verify(NewOptions.Path).IsSound);
    }

    [Fact]
    public void Restored_store_has_the_marks_and_the_versions_that_clients_chose()
    {
        CairnStore store = Open(Small);
        MarkedEntry.Write(store, "key");

        store.Backup(BackupPath);
        StoreMaintenance.Restore(BackupPath, NewOptions);

        MarkedEntry.AssertIsIn(Open(NewOptions), "key");
    }

    [Fact]
    public void Restored_store_survives_a_restart_from_the_beginning()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Backup(BackupPath);
        StoreMaintenance.Restore(BackupPath, NewOptions);

        CairnStore restored = Open(NewOptions);
        restored.Collection("books").Set("43", "Emma"u8);
        restored.Dispose();
        CairnStore after = OpenAfterRestart(NewOptions);

        Assert.Equal("Dune", TextOf(after.Collection("books"), "42"));
        Assert.Equal("Emma", TextOf(after.Collection("books"), "43"));
    }

    [Fact]
    public void Backup_has_the_logged_collections_as_they_are_at_its_end()
    {
        CairnStore store = Open(Small);
        CairnStore other = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        for (int i = 0; i < 100; i++)
        {
            books.Set($"{i}", TestBytes.Of(2000, i));
        }

        // Writes, roll-overs and a checkpoint that has to wait happen while entries are copied.
        var progress = new ActionProgress(() =>
        {
            CairnCollection same = other.Collection("books");
            for (int i = 0; i < 60; i++)
            {
                same.Set($"{i}", TestBytes.Of(2000, 1000 + i));
            }

            same.Remove("99");
            other.Collection("later", Logged).Set("later", "new"u8);
        });
        BackupReport report = store.Backup(BackupPath, progress: progress);
        books.Set("98", "too late"u8);
        StoreMaintenance.Restore(BackupPath, NewOptions);

        Assert.InRange(report.Changes, 62, 1000);
        CairnCollection restored = Open(NewOptions).Collection("books");
        Assert.All(Enumerable.Range(0, 99), i => Assert.Equal(TestBytes.Of(2000, i < 60 ? 1000 + i : i), restored.Get($"{i}")));
        Assert.Null(restored.Get("99"));
        Assert.Equal("new", TextOf(Open(NewOptions).Collection("later"), "later"));
    }

    [Fact]
    public void Backup_of_what_is_kept_leaves_caches_out()
    {
        CairnStore store = Open(Small);
        store.DefaultCollection.Set("own", "x"u8);
        store.Collection("cache").Set("cached", "y"u8);
        store.Collection("books", Logged).Set("42", "Dune"u8);

        store.Backup(BackupPath, new BackupOptions { OnlyKept = true });
        StoreMaintenance.Restore(BackupPath, NewOptions);

        CairnStore restored = Open(NewOptions);
        Assert.Equal(1, restored.GetStatistics().Totals.Entries);
        Assert.Equal(["books"], restored.CollectionNames.Where(name => name.Length > 0));
    }

    [Fact]
    public void Backup_replaces_an_earlier_one_only_when_it_is_complete()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Backup(BackupPath);
        byte[] first = File.ReadAllBytes(BackupPath);
        using var cancellation = new CancellationTokenSource();
        cancellation.Cancel();

        Assert.Throws<OperationCanceledException>(() => store.Backup(BackupPath, cancellationToken: cancellation.Token));
        Assert.Equal(first, File.ReadAllBytes(BackupPath));
        store.Collection("books").Set("42", "Emma"u8);
        store.Backup(BackupPath);

        StoreMaintenance.Restore(BackupPath, NewOptions);
        Assert.Equal("Emma", TextOf(Open(NewOptions).Collection("books"), "42"));
    }

    [Fact]
    public void Backup_never_replaces_the_store_or_its_log()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Checkpoint();
        File.CreateSymbolicLink(PathOf("link"), FilePath);

        foreach (string path in new[] { FilePath, SnapshotPath, FilePath + ".log-0000000001", PathOf("link") })
        {
            Assert.Throws<ArgumentException>(() => store.Backup(path));
        }

        Assert.Throws<DirectoryNotFoundException>(() => store.Backup(Path.Combine(DirectoryPath, "missing", "backup")));
    }

    [Fact]
    public void Store_is_never_restored_over_a_file_or_beside_another_log()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Backup(BackupPath);

        Assert.Throws<StoreException>(() => StoreMaintenance.Restore(BackupPath, Small));
        store.Dispose();
        File.Delete(FilePath);
        Assert.Throws<StoreException>(() => StoreMaintenance.Restore(BackupPath, Small));
        File.Delete(FilePath + ".log-0000000001");

        StoreMaintenance.Restore(BackupPath, Small);
        Assert.Equal("Dune", TextOf(Open(Small).Collection("books"), "42"));
    }

    [Fact]
    public void File_that_is_no_backup_or_half_of_one_is_refused()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", TestBytes.Of(5000));
        store.Backup(BackupPath);
        byte[] whole = File.ReadAllBytes(BackupPath);

        Assert.Throws<StoreCorruptException>(() => StoreMaintenance.Restore(FilePath, NewOptions));
        Assert.Throws<FileNotFoundException>(() => StoreMaintenance.Restore(PathOf("missing"), NewOptions));
        foreach (int length in new[] { 0, 100, 4096, 5000, whole.Length - 1 })
        {
            File.WriteAllBytes(BackupPath, whole[..length]);
            Assert.Throws<StoreCorruptException>(() => StoreMaintenance.Restore(BackupPath, NewOptions));
        }

        Assert.DoesNotContain("new.cairn", string.Join(' ', Directory.GetFiles(DirectoryPath)), StringComparison.Ordinal);
    }

    [Fact]
    public void Backup_that_does_not_fit_is_refused_if_its_entries_are_kept()
    {
        CairnStore store = Open(Options with { CapacityBytes = 8L << 20 });
        CairnCollection books = store.Collection("books", Logged);
        for (int i = 0; i < 50; i++)
        {
            books.Set($"{i}", TestBytes.Of(100_000, i));
        }

        store.Backup(BackupPath);

        Assert.Throws<StoreFullException>(() => StoreMaintenance.Restore(BackupPath, NewOptions));
        Assert.False(File.Exists(NewOptions.Path));
        StoreMaintenance.Restore(BackupPath, NewOptions with { CapacityBytes = 4L << 20, MaxCapacityBytes = 16L << 20 });
        Assert.Equal(TestBytes.Of(100_000, 49), Open(NewOptions).Collection("books").Get("49"));
    }

    [Fact]
    public void Lost_store_is_made_from_its_snapshot_and_log()
    {
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        for (int i = 0; i < 200; i++)
        {
            books.Set($"{i}", TestBytes.Of(500, i));
            if (i == 100)
            {
                store.Checkpoint();
            }
        }

        store.Dispose();
        File.Delete(FilePath);

        RestoreReport report = StoreMaintenance.Restore(SnapshotPath, NewOptions);

        Assert.Equal(200, report.Entries);
        Assert.Equal(TestBytes.Of(500, 199), Open(NewOptions).Collection("books").Get("199"));
        StoreMaintenance.Restore(Path.Combine(DirectoryPath, LogNames.First()), NewOptions with { Path = PathOf("newer.cairn") });
    }

    [Fact]
    public void Checkpoint_waits_for_a_backup()
    {
        CairnStore store = Open(Small);
        CairnStore other = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        Thread? checkpoint = null;
        var progress = new ActionProgress(() =>
        {
            checkpoint = new Thread(() => other.Checkpoint());
            checkpoint.Start();
            Assert.False(checkpoint.Join(TimeSpan.FromMilliseconds(150)));
        });

        store.Backup(BackupPath, progress: progress);

        Assert.True(checkpoint!.Join(TimeSpan.FromSeconds(60)));
        Assert.True(File.Exists(SnapshotPath));
    }

    // Runs an action once.
    private sealed class ActionProgress(Action action) : IProgress<StoreProgress>
    {
        private bool _isDone;

        public void Report(StoreProgress value)
        {
            if (!_isDone)
            {
                _isDone = true;
                action();
            }
        }
    }
}
