using Cairn.Tests.WriteAhead;

namespace Cairn.Tests.Opening;

/// <summary>
/// A flush of the store's file fails. Then its pages can be missing on the disk, although a later flush succeeds. A loss of power must not make the store
/// trust such a file (Superblock I2).
/// </summary>
public sealed class FailedFlushTests : LoggedStoreTest
{
    private StoreOptions Flushing => Options with { FlushOnClose = true };

    [Fact]
    public void Store_that_is_closed_after_a_failed_flush_has_its_entries_after_a_loss_of_power()
    {
        FailingDisk disk = DiskWithStore();
        CairnStore failing = disk.OpenStore(Flushing);
        failing.DefaultCollection.Set("key", "new"u8);
        disk.Fails = true;
        Assert.Throws<StoreException>(failing.Dispose);

        disk.Fails = false;
        disk.OpenStore(Flushing).Dispose();
        disk.LosePower();

        CairnStore after = OpenAfterRestart(Flushing);
        Assert.Empty(after.Warnings);
        Assert.Equal("new", after.DefaultCollection.GetString("key"));
        after.Dispose();
        Assert.True(StoreMaintenance.Verify(FilePath).IsSound);
    }

    [Fact]
    public void Store_whose_disk_keeps_failing_is_not_trusted_after_a_loss_of_power()
    {
        FailingDisk disk = DiskWithStore();
        CairnStore failing = disk.OpenStore(Flushing);
        failing.DefaultCollection.Set("key", "new"u8);

        disk.Fails = true;
        Assert.Throws<StoreException>(failing.Dispose);
        disk.LosePower();

        Assert.Contains("restarted", Assert.Single(OpenAfterRestart(Options).Warnings), StringComparison.Ordinal);
    }

    [Fact]
    public void Opening_after_one_that_could_not_record_the_use_of_the_store_records_it()
    {
        FailingDisk disk = DiskWithStore();
        disk.Fails = true;
        Assert.Throws<StoreException>(() => disk.OpenStore(Flushing));

        disk.Fails = false;
        using (CairnStore store = disk.OpenStore(Options))
        {
            store.DefaultCollection.Set("key", "new"u8);
            disk.WriteBackAllButTheFirstPage();
        }

        disk.LosePower();
        Assert.Contains("restarted", Assert.Single(OpenAfterRestart(Options).Warnings), StringComparison.Ordinal);
    }

    private FailingDisk DiskWithStore()
    {
        using (CairnStore store = CairnStore.Open(Flushing))
        {
            store.DefaultCollection.Set("key", "old"u8);
        }

        return new FailingDisk(FilePath);
    }
}
