using Cairn.Platform;

namespace Cairn.FileStore.Tests.Processes;

/// <summary>A file on a volume that several machines share. Processes represent the machines, and map nothing.</summary>
public class SharedVolumeTests
{
    [Fact]
    public void Processes_see_each_others_changes_on_a_shared_volume() => AssertShared(parent: null);

    [Fact]
    public void Processes_see_each_others_changes_on_a_disk() => AssertShared(Path.GetTempPath());

    [RequiresMountFact("/dev/loop-control", "/sbin/mkfs.ext4")]
    public void Processes_see_each_others_changes_on_a_mounted_volume()
    {
        using TestMount mount = TestMount.Ext4(8 << 20);

        AssertShared(mount.Path);
    }

    [Fact]
    public void Process_that_polls_and_one_that_does_not_see_each_others_changes()
    {
        using var file = new CacheFile();

        AssertShared(file, other: Start(file), isPolling: true);
        AssertShared(file, other: Start(file, "polling"), isPolling: false);
    }

    [RequiresMountFact("/proc/sys/user/max_inotify_instances", "/proc/sys/user/max_inotify_watches")]
    public void Changes_of_others_are_found_without_the_systems_watches()
    {
        foreach (string limit in (string[])["max_inotify_instances", "max_inotify_watches"])
        {
            using var file = new CacheFile();
            using DistributedFileStoreCacheString cache = file.Open(options => options.UsePolling = true);
            string[] withoutWatches = ["unshare", "--map-root-user", "sh", "-c", $"echo 0 > /proc/sys/user/{limit} && exec \"$@\"", "sh"];
            using var other = ChildProcess.StartUnder(withoutWatches, typeof(Program), "answer", file.DirectoryPath, "polling");
            Assert.Equal("ready", other.ReadLine());

            cache.Set("here", "1");
            Eventually.Equal("1", () => Ask(other, "get here"));
            Ask(other, "set there 2");
            Eventually.Equal("2", () => cache.Get("there"));
        }
    }

    [Fact]
    public void Network_file_system_is_polled_without_being_asked()
    {
        using var file = new CacheFile();
        StorePlatform.RefusedFileSystemOverride = "NFS";
        try
        {
            DistributedFileStoreCacheString cache = file.Open();
            DistributedFileStoreCacheString other = file.Open();

            cache.Set("a", "1");
            Eventually.Equal("1", () => other.Get("a"));

            Assert.False(cache.Engine.IsShared);
            Assert.Equal(0, new FileInfo(file.SidePath).Length);
        }
        finally
        {
            StorePlatform.RefusedFileSystemOverride = null;
        }
    }

    private static void AssertShared(string? parent)
    {
        using var file = new CacheFile(parent);
        AssertShared(file, Start(file, "polling"), isPolling: true);
        Assert.Equal(0, new FileInfo(file.SidePath).Length); // No process mapped anything.
    }

    private static void AssertShared(CacheFile file, ChildProcess other, bool isPolling)
    {
        using (other)
        {
            using DistributedFileStoreCacheString cache = file.Open(options => options.UsePolling = isPolling);
            foreach (string value in (string[])["1", "2", "3"])
            {
                cache.Set("here", value);
                Eventually.Equal(value, () => Ask(other, "get here"));
                Ask(other, $"set there {value}");
                Eventually.Equal(value, () => cache.Get("there"));
            }

            Ask(other, "remove here");
            Eventually.Equal(null, () => cache.Get("here"));
            cache.ClearAll([new("only", "1")]);
            Eventually.Equal("1", () => Ask(other, "count"));
        }
    }

    private static ChildProcess Start(CacheFile file, params string[] arguments)
    {
        var child = ChildProcess.Start(typeof(Program), ["answer", file.DirectoryPath, .. arguments]);
        Assert.Equal("ready", child.ReadLine());
        return child;
    }

    private static string Ask(ChildProcess child, string request)
    {
        child.WriteLine(request);
        return child.ReadLine();
    }
}
