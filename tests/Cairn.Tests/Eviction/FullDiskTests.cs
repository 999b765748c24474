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
    public void Full_disk_at_growth_is_reported_and_the_store_goes_on_as_it_is()
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
