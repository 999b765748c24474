using Cairn.Concurrency;
using Cairn.Steps;
using Cairn.Tests.Concurrency;

namespace Cairn.Tests.Opening;

/// <summary>A store closes while its threads work. Their later operations cause no harm (StoreEngine I1 to I3).</summary>
[Collection(ProtocolScripts.Name)]
public sealed class ClosingTests : StoreTest
{
    [Fact]
    public async Task Thread_that_takes_a_lock_after_closing_does_not_release_the_lock_of_the_process_that_took_it_over()
    {
        var clock = new ScriptedClock();
        CairnStore closing = Open(Options with { TimeProvider = clock });
        CairnStore taker = Open(Options);
        CairnCollection cache = taker.DefaultCollection;
        using var isInside = new ManualResetEventSlim();
        using var mayLeave = new ManualResetEventSlim();
        Task<bool> taking = Task.FromResult(false);
        int ownerAfterwards = 0;

        int latecomer = Environment.CurrentManagedThreadId;
        clock.AtNextLook(() =>
        {
            closing.Dispose();
            ProtocolHook.Handler = step =>
            {
                bool isLatecomer = Environment.CurrentManagedThreadId == latecomer;
                if (isLatecomer && step == ProtocolStep.LockTaken)
                {
                    taking = OwnThread.Run(() => cache.Set("key", "taker's"u8));
                    isInside.Wait();
                }
                else if (!isLatecomer && step == ProtocolStep.EntryCopied)
                {
                    isInside.Set();
                    mayLeave.Wait();
                }
            };
        });
        try
        {
            Assert.Throws<ObjectDisposedException>(() => closing.DefaultCollection.Set("key", "latecomer's"u8, Expiration.Sliding(TimeSpan.FromHours(1))));
            ownerAfterwards = OwnerOfLock(taker, cache.PartitionOf("key"));
        }
        finally
        {
            ProtocolHook.Handler = null;
            mayLeave.Set();
        }

        Assert.Equal(taker.Engine.Owners.Slot, ownerAfterwards);
        Assert.True(await taking);
        Assert.Equal("taker's", cache.GetString("key"));
        StoreAudit.Check(taker);
    }

    [Fact]
    public async Task Threads_at_work_while_the_store_is_closed_either_finish_or_get_an_exception()
    {
        for (int round = 0; round < 20; round++)
        {
            CairnStore keeping = Open(Options);
            CairnStore closing = Open(Options);
            CairnCollection cache = closing.DefaultCollection;
            Task<int>[] workers =
            [
                .. Enumerable.Range(0, 4).Select(worker => OwnThread.Run(() =>
                {
                    int done = 0;
                    try
                    {
                        while (true)
                        {
                            cache.Set($"{done % 50}", TestBytes.Of(done % 3000, seed: done));
                            cache.Get($"{done % 50}");
                            if (cache.TryPin($"{worker}", out PinnedValue? pinned))
                            {
                                pinned.Dispose();
                            }

                            done++;
                        }
                    }
                    catch (ObjectDisposedException)
                    {
                        return done;
                    }
                })),
            ];
            while (keeping.GetStatistics().Totals.Sets < (round + 1) * 100)
            {
                Thread.Yield();
            }

            closing.Dispose();

            await Task.WhenAll(workers);
            StoreAudit.Check(keeping);
            Assert.Equal(1, keeping.GetStatistics().Openings);
            Assert.Equal(0, keeping.GetStatistics().Totals.Recoveries);
            keeping.Dispose();
        }
    }

    [Fact]
    public unsafe void Lock_that_names_its_owner_for_no_reason_does_not_keep_the_store_from_closing()
    {
        CairnStore closing = Open(Options with { LockTimeout = TimeSpan.FromMilliseconds(5) });
        CairnStore other = Open(Options with { LockTimeout = TimeSpan.FromMilliseconds(5) });
        CairnCollection cache = other.DefaultCollection;
        closing.DefaultCollection.Set("key", "value"u8);
        closing.Engine.Memory.Partition(closing.DefaultCollection.PartitionOf("key"))->LockWord = (9u << 8) | (uint)closing.Engine.Owners.Slot;

        closing.Dispose();

        // No process takes over the lock of a living owner, and this owner lives while the process may have a thread in an operation.
        Assert.Equal("value", cache.GetString("key"));
        Assert.False(cache.Set("key", "new"u8));
        Assert.Null(cache.GetString("key"));
        GC.KeepAlive(closing);
    }

    private static unsafe int OwnerOfLock(CairnStore store, int partition) =>
        PartitionLock.OwnerOf(Volatile.Read(ref store.Engine.Memory.Partition(partition)->LockWord));
}
