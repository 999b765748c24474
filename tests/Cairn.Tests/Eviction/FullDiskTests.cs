using System.Diagnostics;
using System.Globalization;
using Cairn.Tests.Platform;

namespace Cairn.Tests.Eviction;

/// <summary>A full disk: creating a store reports a clear error, and a store that cannot grow keeps its size. No entry is lost.</summary>
public sealed class FullDiskTests : StoreTest
{
    private const int ValueBytes = 2_000;

    [RequiresMountFact]
    public void Full_disk_at_creation_is_a_clear_error_and_leaves_nothing()
    {
        using TestMount mount = TestMount.Tmpfs(2 << 20);

        var full = Assert.Throws<StoreException>(() => CairnStore.Open(Options with { Path = mount["store.cairn"] }));

        Assert.Contains(mount["store.cairn"], full.Message, StringComparison.Ordinal);
        Assert.Empty(Directory.EnumerateFileSystemEntries(mount.Path));
    }

    [RequiresMountFact]
    public void Full_disk_at_growth_is_reported_and_the_store_keeps_its_size()
    {
        using TestMount mount = TestMount.Tmpfs(8 << 20);

        GrowUntilFull(mount["store.cairn"], capacityBytes: 4 << 20, maxCapacityBytes: 16 << 20, diskBytes: 8 << 20);
    }

    [RequiresMountFact("/usr/sbin/mkfs.ext4", "/dev/loop-control")]
    public void Full_disk_of_blocks_is_a_clear_error_at_creation_and_survived_at_growth()
    {
        using TestMount mount = TestMount.Ext4(32 << 20);
        long free = new DriveInfo(mount.Path).AvailableFreeSpace;

        var full = Assert.Throws<StoreException>(() => CairnStore.Open(Options with { Path = mount["store.cairn"], CapacityBytes = 64 << 20 }));

        Assert.Contains("is full", full.Message, StringComparison.Ordinal);
        Assert.False(File.Exists(mount["store.cairn"]));
        Assert.InRange(new DriveInfo(mount.Path).AvailableFreeSpace, free - (256 << 10), free);
        GrowUntilFull(mount["store.cairn"], capacityBytes: 16 << 20, maxCapacityBytes: 64 << 20, diskBytes: 32 << 20);
    }

    [RequiresMountFact]
    public void Sparse_copy_in_memory_is_refused_while_there_is_no_space_and_ends_no_process()
    {
        using TestMount mount = TestMount.Tmpfs(8 << 20);

        UseSparseCopy(mount);
    }

    [RequiresMountFact("/usr/sbin/mkfs.ext4", "/dev/loop-control")]
    public void Sparse_copy_on_a_disk_is_refused_while_the_disk_is_full_and_ends_no_process()
    {
        using TestMount mount = TestMount.Ext4(16 << 20);

        UseSparseCopy(mount);
    }

    [Fact]
    public void Limit_on_the_size_of_files_stops_growth_and_not_the_process()
    {
        const long Limit = 12 << 20;
        using ChildProcess child = ChildProcess.Start(typeof(Program), "grow-with-limit", FilePath, $"{32 << 20}", $"{Limit}");

        long[] numbers = [.. child.ReadLine().Split(' ').Select(number => long.Parse(number, CultureInfo.InvariantCulture))];
        string failure = child.ReadLine();

        Assert.Equal(numbers[1], numbers[0]);
        Assert.InRange(numbers[2], StoreDirectory.SmallCapacityBytes / 2, Limit);
        Assert.Contains("ulimit -f", failure, StringComparison.Ordinal);
        Assert.Equal(0, child.Finish());
        Assert.True(StoreMaintenance.Verify(FilePath).IsSound);
    }

    // A child uses the copy, because a fault would end the process.
    private void UseSparseCopy(TestMount mount)
    {
        string copy = mount["store.cairn"];
        using (CairnStore store = CairnStore.Open(Options with { FlushOnClose = true }))
        {
            for (int i = 0; i < 500; i++)
            {
                store.DefaultCollection.Set($"{i}", new byte[ValueBytes]); // Zeros: the copy has holes within its segments, too.
            }
        }

        using (Process copying = Process.Start("cp", ["--sparse=always", FilePath, copy]))
        {
            copying.WaitForExit();
        }

        FillDisk(mount);
        using ChildProcess refused = ChildProcess.Start(typeof(Program), "use-sparse-copy", copy);
        Assert.Contains(copy, refused.ReadLine(), StringComparison.Ordinal);
        Assert.Equal(0, refused.Finish());

        File.Delete(mount["fill"]);
        using ChildProcess child = ChildProcess.Start(typeof(Program), "use-sparse-copy", copy);
        Assert.Equal("open", child.ReadLine());
        FillDisk(mount);
        child.WriteLine("go on");
        Assert.Equal("500", child.ReadLine());
        Assert.Equal(0, child.Finish());
        Assert.True(StoreMaintenance.Verify(copy).IsSound);
    }

    private static void FillDisk(TestMount mount)
    {
        using FileStream fill = new(mount["fill"], FileMode.Append, FileAccess.Write, FileShare.None, bufferSize: 0);
        foreach (int pieceBytes in (int[])[64 << 10, 512])
        {
            Assert.Throws<IOException>(() => WriteUntilFull(fill, TestBytes.Of(pieceBytes)));
        }
    }

    private static void WriteUntilFull(FileStream file, byte[] piece)
    {
        while (true)
        {
            file.Write(piece);
        }
    }

    private void GrowUntilFull(string path, long capacityBytes, long maxCapacityBytes, long diskBytes)
    {
        using CairnStore store = CairnStore.Open(Options with { Path = path, CapacityBytes = capacityBytes, MaxCapacityBytes = maxCapacityBytes });
        CairnCollection cache = store.DefaultCollection;
        int written = (int)(maxCapacityBytes / ValueBytes);
        for (int i = 0; i < written; i++)
        {
            Assert.True(cache.Set($"{i}", TestBytes.Of(ValueBytes, seed: i)));
            Assert.Equal(TestBytes.Of(ValueBytes, seed: i), cache.Get($"{i}"));
        }

        StoreStatistics statistics = store.GetStatistics();
        int found = Enumerable.Range(0, written).Count(i => cache.Contains($"{i}"));
        Assert.Contains("is full", statistics.GrowthFailure, StringComparison.Ordinal);
        Assert.InRange(statistics.FileBytes, capacityBytes + 1, diskBytes);
        Assert.Equal(written - statistics.Totals.Evictions, found);
        Assert.InRange(found * (long)ValueBytes, statistics.FileBytes / 2, statistics.FileBytes);
        StoreAudit.Check(store);
    }
}
