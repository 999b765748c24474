using System.Globalization;

namespace Cairn.Tests.WriteAhead;

/// <summary>
/// A real full disk under the log or a snapshot. Writes fail with an error, reads continue, and no acknowledged write is lost. When the disk has room
/// again, everything continues.
/// </summary>
public sealed class FullDiskLogTests : LoggedStoreTest
{
    private const int ValueBytes = 1_000;
    private const int Keys = 400;

    private readonly Dictionary<string, int> _acknowledged = new(StringComparer.Ordinal);
    private int _values;

    [RequiresMountFact]
    public void Disk_in_memory_that_is_full_stops_durable_writes_until_there_is_room()
    {
        using TestMount mount = TestMount.Tmpfs(6 << 20);

        FillAndGoOn(mount, fillerBytes: 2 << 20);
    }

    [RequiresMountFact("/usr/sbin/mkfs.ext4", "/dev/loop-control")]
    public void Disk_of_blocks_that_is_full_stops_durable_writes_until_there_is_room()
    {
        using TestMount mount = TestMount.Ext4(16 << 20);

        FillAndGoOn(mount, fillerBytes: 4 << 20);
    }

    [RequiresMountFact]
    public void Store_whose_lost_log_has_no_room_is_read_and_refuses_durable_writes_until_it_has()
    {
        using TestMount mount = TestMount.Tmpfs(6 << 20);
        StoreOptions options = OptionsOn(mount);
        using (CairnStore store = CairnStore.Open(options))
        {
            Write(store, 50);
        }

        foreach (string piece in Directory.GetFiles(mount.Path, "*.log-*"))
        {
            File.Delete(piece);
        }

        FillWith(mount["filler"], 6 << 20);
        using (CairnStore store = CairnStore.Open(options))
        {
            Assert.Contains("could not be created again", Assert.Single(store.Warnings), StringComparison.Ordinal);
            var refused = Assert.Throws<StoreReadOnlyException>(() => Write(store, 1));
            Assert.Contains(nameof(CairnStore.Warnings), refused.Message, StringComparison.Ordinal);
            ExpectAcknowledged(store);
        }

        File.Delete(mount["filler"]);
        using (CairnStore store = CairnStore.Open(options))
        {
            Assert.Empty(store.Warnings);
            Write(store, 10);
        }

        ExpectAfterRestart(options);
    }

    // FlushOnClose, because the content of a cleanly closed store is not rebuilt from the log.
    private StoreOptions OptionsOn(TestMount mount) => Small with { Path = mount["store.cairn"], FlushOnClose = true, LogFileBytes = 128 << 10 };

    private void FillAndGoOn(TestMount mount, long fillerBytes)
    {
        FillWith(mount["filler"], fillerBytes);
        CairnStore store = CairnStore.Open(OptionsOn(mount));
        try
        {
            StoreFullException full = WriteUntilFull(store);
            Assert.Contains("is full", full.Message, StringComparison.Ordinal);
            Assert.Contains("reading continues", full.Message, StringComparison.Ordinal);
            ExpectAcknowledged(store);

            // A snapshot needs room too; the previous one stays.
            StoreException none = Assert.ThrowsAny<StoreException>(() => store.Checkpoint());
            Assert.Contains("is full", none.Message, StringComparison.Ordinal);
            Assert.Throws<StoreFullException>(() => Write(store, 1_000));
            ExpectAcknowledged(store);
            File.Delete(mount["filler"]);
            Write(store, 50);
            store.Checkpoint();
            Write(store, 50);
            ExpectAcknowledged(store);
        }
        finally
        {
            store.Dispose();
        }

        ExpectAfterRestart(OptionsOn(mount));
    }

    private StoreFullException WriteUntilFull(CairnStore store)
    {
        try
        {
            Write(store, 100_000);
        }
        catch (StoreFullException full)
        {
            return full;
        }

        throw new InvalidOperationException("The disk was never full.");
    }

    private void Write(CairnStore store, int count)
    {
        CairnCollection kept = store.Collection("kept", Logged);
        for (int i = 0; i < count; i++)
        {
            int value = ++_values;
            string key = KeyOf(value % Keys);
            Assert.True(kept.Set(key, TestBytes.Of(ValueBytes, value)));
            _acknowledged[key] = value;
        }
    }

    private void ExpectAcknowledged(CairnStore store)
    {
        CairnCollection kept = store.Collection("kept");
        Assert.Equal(_acknowledged.Count, store.GetStatistics().Collections.Single(c => c.Name == "kept").Entries);
        Assert.All(_acknowledged, pair => Assert.Equal(TestBytes.Of(ValueBytes, pair.Value), kept.Get(pair.Key)));
    }

    // Restarts the machine while the store is in use. The store was closed once before.
    private void ExpectAfterRestart(StoreOptions options)
    {
        CairnStore.Open(options with { FlushOnClose = false }).Dispose();
        using CairnStore after = OpenAfterRestart(options);
        Assert.NotEmpty(after.Warnings);
        ExpectAcknowledged(after);
        StoreAudit.Check(after);
    }

    private static string KeyOf(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static void FillWith(string path, long bytes)
    {
        using FileStream filler = File.Create(path);
        var piece = new byte[4096];
        try
        {
            for (long done = 0; done < bytes; done += piece.Length)
            {
                filler.Write(piece);
                filler.Flush();
            }
        }
        catch (IOException)
        {
            // The disk is full.
        }
    }
}
