using System.Diagnostics;
using System.Globalization;

namespace Cairn.Tests.Maps;

/// <summary>The file of a map takes space on the disk as it fills.</summary>
public sealed class SmallMapTests : StoreTest
{
    private const int ValueBytes = 1_000;

    [RequiresMountFact("/usr/sbin/mkfs.ext4", "/dev/loop-control")]
    public void Map_with_one_entry_takes_less_than_two_mebibytes_of_the_disk_with_its_log()
    {
        using TestMount mount = TestMount.Ext4(400 << 20);
        string path = mount["map.cairn"];
        using PersistentMap<string, int> map = PersistentMap.Open<string, int>(path);

        map["Dune"] = 1;
        map.Store.Flush();
        long open = BytesOfMap(path);
        map.Dispose();

        Assert.InRange(open, 1, 2 << 20);
        Assert.InRange(BytesOfMap(path), 1, 2 << 20);
        using PersistentMap<string, int> again = PersistentMap.Open<string, int>(path);
        Assert.Equal(1, again["Dune"]);
    }

    [Fact]
    public void Store_that_reserves_its_space_takes_it_at_once()
    {
        using CairnStore store = Open(Options);

        Assert.True(BytesOnDisk(FilePath) >= store.Options.CapacityBytes);
    }

    [Fact]
    public void Map_that_fills_its_file_as_it_goes_has_everything_as_another_opening_sees_it()
    {
        using var directory = new TestDirectory();
        var sparse = new StoreOptions { Path = directory["map.cairn"], CapacityBytes = 16 << 20, ReservesSpace = false };
        using PersistentMap<int, byte[]> map = PersistentMap.Open<int, byte[]>(sparse);
        using PersistentMap<int, byte[]> other = PersistentMap.Open<int, byte[]>(sparse);

        for (int i = 0; i < 6_000; i++)
        {
            (i % 2 == 0 ? map : other)[i] = TestBytes.Of(ValueBytes, i);
        }

        map[-1] = TestBytes.Of(1 << 20);
        for (int i = 0; i < 6_000; i += 3)
        {
            Assert.True(other.Remove(i));
        }

        Assert.Equal(4_001, map.Count);
        Assert.All(other.GetAll(), entry => Assert.Equal(entry.Key < 0 ? TestBytes.Of(1 << 20) : TestBytes.Of(ValueBytes, entry.Key), entry.Value));
        Assert.True(StoreMaintenance.Verify(sparse.Path).IsSound);
    }

    [RequiresMountFact("/usr/sbin/mkfs.ext4", "/dev/loop-control")]
    public void Full_disk_refuses_puts_loses_nothing_and_ends_no_process()
    {
        using TestMount mount = TestMount.Ext4(16 << 20);
        var options = new StoreOptions { Path = mount["map.cairn"], CapacityBytes = 64 << 20, ReservesSpace = false };
        using PersistentMap<int, byte[]> map = PersistentMap.Open<int, byte[]>(options, new MapOptions<int, byte[]> { Durability = Durability.ProcessCrash });

        int count = 0;
        StoreFullException? full = null;
        while (full is null && count < 100_000)
        {
            try
            {
                map[count] = TestBytes.Of(ValueBytes, count);
                count++;
            }
            catch (StoreFullException failure)
            {
                full = failure;
            }
        }

        Assert.Contains("The disk has no room", full?.Message, StringComparison.Ordinal);
        Assert.InRange(count, 4_000, 16_000);
        for (int i = 0; i < 1_000; i++)
        {
            Assert.Null(map.Get(1_000_000 + i)); // Reads that find nothing read holes.
        }

        for (int i = 0; i < count; i++)
        {
            Assert.Equal(TestBytes.Of(ValueBytes, i), map[i]);
        }

        for (int i = 0; i < count / 2; i++)
        {
            Assert.True(map.Remove(i));
        }

        for (int i = 0; i < count / 4; i++)
        {
            map[count + i] = TestBytes.Of(ValueBytes, i);
        }

        Assert.Equal(count - (count / 2) + (count / 4), map.Count);
    }

    private static long BytesOfMap(string path) =>
        Directory.GetFiles(Path.GetDirectoryName(path)!, Path.GetFileName(path) + "*").Sum(BytesOnDisk);

    private static long BytesOnDisk(string path)
    {
        using Process stat = Process.Start(new ProcessStartInfo("stat", ["-c", "%b", path]) { RedirectStandardOutput = true, UseShellExecute = false })!;
        string blocks = stat.StandardOutput.ReadToEnd();
        stat.WaitForExit();
        return long.Parse(blocks, CultureInfo.InvariantCulture) * 512;
    }
}
