using System.Runtime.Versioning;
using Cairn.Steps;
using Cairn.Tests.WriteAhead;

namespace Cairn.Tests.Snapshots;

/// <summary>Snapshots, and the log that they replace.</summary>
[SupportedOSPlatform("linux")]
public sealed class CheckpointTests : LoggedStoreTest
{
    [Fact]
    public void Checkpoint_deletes_the_log_that_it_makes_needless()
    {
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        for (int i = 0; i < 500; i++)
        {
            books.Set($"{i % 10}", TestBytes.Of(1000, i));
        }

        int before = LogNames.Count();
        store.Checkpoint();

        Assert.InRange(before, 5, 50);
        Assert.Single(LogNames);
        Assert.InRange(new FileInfo(SnapshotPath).Length, 10_000, 20_000);
        store.Dispose();
        books = OpenAfterRestart(Small).Collection("books");
        Assert.All(Enumerable.Range(490, 10), i => Assert.Equal(TestBytes.Of(1000, i), books.Get($"{i % 10}")));
    }

    [Fact]
    public void Checkpoint_of_a_store_without_a_log_does_nothing()
    {
        Cache.Set("cached", "x"u8);

        Store.Checkpoint();

        Assert.False(File.Exists(SnapshotPath));
    }

    [Fact]
    public void Writes_during_a_snapshot_are_not_lost()
    {
        CairnStore store = Open(Small);
        CairnStore other = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        for (int i = 0; i < 100; i++)
        {
            books.Set($"{i}", TestBytes.Of(200, i));
        }

        bool isDone = false;
        ProtocolHook.Handler = step =>
        {
            // After the entries were copied, and before the snapshot gets its name.
            if (step == ProtocolStep.CheckpointCopied && !isDone)
            {
                isDone = true;
                CairnCollection same = other.Collection("books");
                same.Set("1", "new"u8);
                same.Remove("2");
                same.Set("later", "new"u8);
            }
        };
        try
        {
            store.Checkpoint();
        }
        finally
        {
            ProtocolHook.Handler = null;
        }

        Assert.True(isDone);
        store.Dispose();
        other.Dispose();
        books = OpenAfterRestart(Small).Collection("books");
        Assert.Equal(("new", null, "new"), (TextOf(books, "1"), TextOf(books, "2"), TextOf(books, "later")));
        Assert.Equal(TestBytes.Of(200, 99), books.Get("99"));
    }

    [Fact]
    public void Cancelled_checkpoint_leaves_the_earlier_snapshot()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Checkpoint();
        byte[] before = File.ReadAllBytes(SnapshotPath);
        using var cancellation = new CancellationTokenSource();
        cancellation.Cancel();

        Assert.Throws<OperationCanceledException>(() => store.Checkpoint(cancellationToken: cancellation.Token));

        Assert.Equal(before, File.ReadAllBytes(SnapshotPath));
        Assert.Equal(3, Directory.GetFiles(DirectoryPath).Length);
        store.Checkpoint();
    }

    [Fact]
    public void Snapshot_has_the_permissions_of_the_store()
    {
        CairnStore store = Open(Small);
        const UnixFileMode Shared =
            UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite;
        File.SetUnixFileMode(FilePath, Shared);

        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Checkpoint();

        Assert.Equal(Shared, File.GetUnixFileMode(SnapshotPath));
        Assert.Equal(Shared, File.GetUnixFileMode(Path.Combine(DirectoryPath, LogNames.Single())));
    }

    [Fact]
    public void Damaged_entry_stops_a_checkpoint_and_the_log_that_has_it_stays()
    {
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        byte[] value = TestBytes.Of(1000, 5);
        books.Set("42", value);
        Damage(store, value);

        Assert.Throws<StoreCorruptException>(() => store.Checkpoint());

        store.Dispose();
        Assert.False(File.Exists(SnapshotPath));
        Assert.Equal(value, OpenAfterRestart(Small).Collection("books").Get("42"));
    }

    [Fact]
    public void Log_that_outgrows_what_it_protects_is_due_and_one_that_does_not_is_not()
    {
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        Assert.False(store.Checkpointer.IsDue(StoreLimits.MinLogFileBytes));
        while (!store.Checkpointer.IsDue(StoreLimits.MinLogFileBytes))
        {
            books.Set("42", TestBytes.Of(1000));
        }

        Assert.InRange(store.Engine.WriteAhead.Tail, StoreLimits.MinLogFileBytes, 2 * StoreLimits.MinLogFileBytes);
        for (int i = 0; i < 200; i++)
        {
            books.Set($"{i}", TestBytes.Of(1000));
        }

        store.Checkpoint();
        Assert.False(store.Checkpointer.IsDue(StoreLimits.MinLogFileBytes));
        for (int i = 0; i < 100; i++)
        {
            books.Set($"{i}", TestBytes.Of(1000));
        }

        Assert.False(store.Checkpointer.IsDue(StoreLimits.MinLogFileBytes)); // The log is half as long as the entries.
    }

    [Fact]
    public void Log_of_a_store_in_use_is_kept_short_by_itself()
    {
        CairnStore store = Open(Small with { CheckpointsByItself = true });
        CairnCollection books = store.Collection("books", Logged);
        long written = 0;
        while (!File.Exists(SnapshotPath) && written < 1L << 30)
        {
            books.Set("42", TestBytes.Of(1000));
            written += 1000;
        }

        Assert.True(File.Exists(SnapshotPath));
    }

    [Fact]
    public void Snapshot_that_could_not_be_made_is_counted_until_one_is()
    {
        CairnStore store = Open(Small with { CheckpointsByItself = true });
        CairnStore other = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        byte[] value = TestBytes.Of(1000, 5);
        books.Set("damaged", value);
        Damage(store, value);
        for (long written = 0; other.GetStatistics().FailedCheckpoints == 0 && written < 1L << 30; written += 1000)
        {
            books.Set("42", TestBytes.Of(1000));
        }

        Assert.Equal(1, other.GetStatistics().FailedCheckpoints);
        Assert.Null(other.GetStatistics().CheckpointFailure);
        SpinWait.SpinUntil(() => store.GetStatistics().CheckpointFailure is not null, TimeSpan.FromSeconds(60));
        Assert.Contains("books", store.GetStatistics().CheckpointFailure, StringComparison.Ordinal);
        books.Set("damaged", "y"u8);
        other.Checkpoint();

        Assert.Equal(0, store.GetStatistics().FailedCheckpoints);
    }

    [Fact]
    public void Collection_that_comes_under_the_log_survives_a_restart_with_all_it_held()
    {
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged with { Durability = Durability.ProcessCrash });
        books.Set("42", "Dune"u8);
        books.Set("43", "Emma"u8);

        store.Collection("books", Logged).Set("43", "Ulysses"u8);

        store.Dispose();
        books = OpenAfterRestart(Small).Collection("books");
        Assert.Equal(("Dune", "Ulysses"), (TextOf(books, "42"), TextOf(books, "43")));
    }

    [Fact]
    public void Collection_that_leaves_the_log_is_empty_after_a_restart()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Collection("books", Logged with { Durability = Durability.ProcessCrash }).Set("43", "Emma"u8);
        Assert.Equal("Dune", TextOf(store.Collection("books"), "42"));
        store.Dispose();

        CairnCollection books = OpenAfterRestart(Small).Collection("books");

        Assert.Null(books.Get("42"));
        Assert.Null(books.Get("43"));
    }

    [Fact]
    public void Snapshot_of_a_collection_that_came_under_the_log_is_made_by_another_if_it_must()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged with { Durability = Durability.ProcessCrash }).Set("42", "Dune"u8);
        ProtocolHook.Handler = step =>
        {
            if (step == ProtocolStep.CheckpointCopied)
            {
                throw new StoreException("The disk is full.");
            }
        };
        try
        {
            Assert.Throws<StoreException>(() => store.Collection("books", Logged));
        }
        finally
        {
            ProtocolHook.Handler = null;
        }

        Assert.True(store.Checkpointer.IsDue(long.MaxValue));
        store.Checkpoint();
        Assert.False(store.Checkpointer.IsDue(long.MaxValue));
    }

    private static unsafe void Damage(CairnStore store, byte[] value)
    {
        byte* start = store.Engine.Memory.SegmentStart(0);
        var all = new Span<byte>(start, store.Engine.Memory.SegmentCount * store.Engine.Memory.SegmentBytes);
        all[all.IndexOf(value) + 7] ^= 1;
    }
}
