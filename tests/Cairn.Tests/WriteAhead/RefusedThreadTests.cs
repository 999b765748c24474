using Cairn.Platform;

namespace Cairn.Tests.WriteAhead;

/// <summary>The system refuses threads. The store does without them, and no caller waits for a thread that does not exist.</summary>
public sealed class RefusedThreadTests : LoggedStoreTest
{
    [Fact]
    public async Task Writes_become_durable_without_the_thread_that_flushes_the_log()
    {
        CairnStore store = null!;
        CairnCollection later = null!;
        CairnCollection now = null!;
        await WithoutThreads(async () =>
        {
            store = Open(Small);
            later = store.Collection("later", Logged with { Durability = Durability.BackgroundCommit });
            later.Set("42", "Dune"u8);
            Assert.Equal(store.Engine.WriteAhead.Tail, store.Engine.WriteAhead.Durable);

            now = store.Collection("now", Logged);
            await now.SetDurablyAsync("43", "Emma"u8);
            Assert.Equal(store.Engine.WriteAhead.Tail, store.Engine.WriteAhead.Durable);

            await store.FlushAsync();
        });

        later.Set("44", "Ulysses"u8);
        Assert.True(SpinWait.SpinUntil(() => store.Engine.WriteAhead.Tail == store.Engine.WriteAhead.Durable, TimeSpan.FromMinutes(1)));
        await now.SetDurablyAsync("45", "Moby Dick"u8);
        store.Dispose();
        Assert.Equal("Dune", TextOf(OpenAfterRestart(Small).Collection("later"), "42"));
    }

    [Fact]
    public async Task Snapshot_without_a_thread_is_a_failed_one_and_is_tried_again()
    {
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged with { Durability = Durability.BackgroundCommit });
        for (int i = 0; i < 100; i++)
        {
            books.Set("42", TestBytes.Of(1000));
        }

        await WithoutThreads(() =>
        {
            store.Checkpointer.RunIfDue(1000);
            return Task.CompletedTask;
        });

        Assert.Equal(1, store.GetStatistics().FailedCheckpoints);
        Assert.Contains("refuses another thread", store.GetStatistics().CheckpointFailure, StringComparison.Ordinal);
        store.Checkpoint();
        Assert.Equal(0, store.GetStatistics().FailedCheckpoints);
    }

    [Fact]
    public void Opening_that_gets_no_thread_for_its_timers_fails_and_does_not_keep_the_file_in_use()
    {
        Open(Small).Dispose();
        BackgroundThread.AreTimersRefused = true;

        StoreException failure = Assert.Throws<StoreException>(() => CairnStore.Open(Small));

        BackgroundThread.AreTimersRefused = false;
        Assert.Contains("refuses a thread for its timers. Raise the limits", failure.Message, StringComparison.Ordinal);
        StoreMaintenance.Compact(Small.Path); // Needs a store that is not in use.
    }

    private static async Task WithoutThreads(Func<Task> action)
    {
        BackgroundThread.IsRefused = true;
        try
        {
            await action();
        }
        finally
        {
            BackgroundThread.IsRefused = false;
        }
    }
}
