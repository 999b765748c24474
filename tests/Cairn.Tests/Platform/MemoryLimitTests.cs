using Cairn.Platform;
using Cairn.Platform.Linux;

namespace Cairn.Tests.Platform;

/// <summary>The memory limit is the least of the machine's memory and of every control group around the process.</summary>
public sealed class MemoryLimitTests : IDisposable
{
    private const long MiB = 1L << 20;
    private const string Version2Mount = "30 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw";
    private const string Version1Mount = "31 22 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";

    private readonly TestDirectory _directory = new();

    public MemoryLimitTests() => Write("proc/meminfo", "MemTotal:        1048576 kB\nMemFree:          4096 kB\n");

    private long? Limit => LinuxMemoryLimit.Find(_directory.Path);

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Machine_without_control_groups_is_limited_by_its_memory() => Assert.Equal(1024 * MiB, Limit);

    [Fact]
    public void Machine_that_says_nothing_has_no_known_limit()
    {
        File.Delete(_directory["proc/meminfo"]);

        Assert.Null(Limit);
    }

    [Fact]
    public void Least_limit_from_the_groups_own_up_to_the_top_counts()
    {
        Write("proc/self/mountinfo", Version2Mount);
        Write("proc/self/cgroup", "0::/app.slice/cairn.service\n");
        Write("sys/fs/cgroup/app.slice/cairn.service/memory.max", "max\n");
        Write("sys/fs/cgroup/app.slice/memory.max", $"{300 * MiB}\n");
        Write("sys/fs/cgroup/memory.max", $"{400 * MiB}\n");
        Assert.Equal(300 * MiB, Limit);

        Write("sys/fs/cgroup/app.slice/cairn.service/memory.max", $"{200 * MiB}\n");
        Assert.Equal(200 * MiB, Limit);
    }

    [Fact]
    public void Unlimited_group_leaves_the_machines_memory()
    {
        Write("proc/self/mountinfo", Version2Mount);
        Write("proc/self/cgroup", "0::/\n");
        Write("sys/fs/cgroup/memory.max", "max\n");

        Assert.Equal(1024 * MiB, Limit);
    }

    [Fact]
    public void Container_with_its_own_view_finds_its_limit_at_the_mount()
    {
        // In a private namespace, the container's group is the root.
        Write("proc/self/mountinfo", Version2Mount);
        Write("proc/self/cgroup", "0::/\n");
        Write("sys/fs/cgroup/memory.max", $"{256 * MiB}\n");

        Assert.Equal(256 * MiB, Limit);
    }

    [Fact]
    public void Container_that_sees_the_hosts_paths_finds_its_limit_below_the_mounts_root()
    {
        Write("proc/self/mountinfo", "31 22 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory");
        Write("proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc/inner\n");
        Write("sys/fs/cgroup/memory/memory.limit_in_bytes", $"{128 * MiB}\n");
        Write("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "9223372036854771712\n");

        Assert.Equal(128 * MiB, Limit);
    }

    [Fact]
    public void Process_outside_of_what_its_mount_shows_uses_the_mounts_top()
    {
        Write("proc/self/mountinfo", "31 22 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory");
        Write("proc/self/cgroup", "4:memory:/docker/abcdef\n");
        Write("sys/fs/cgroup/memory/memory.limit_in_bytes", $"{64 * MiB}\n");

        Assert.Equal(64 * MiB, Limit);
    }

    [Fact]
    public void Version_1_limits_count_up_the_tree_and_its_no_limit_is_above_the_machines_memory()
    {
        Write("proc/self/mountinfo", Version1Mount);
        Write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/a/b\n0::/\n");
        Write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
        Assert.Equal(1024 * MiB, Limit);

        Write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", $"{100 * MiB}\n");
        Assert.Equal(100 * MiB, Limit);
    }

    [Fact]
    public void Both_versions_mounted_together_are_both_asked()
    {
        Write("proc/self/mountinfo", $"{Version1Mount}\n40 22 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
        Write("proc/self/cgroup", "4:memory:/a\n0::/b\n");
        Write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", $"{500 * MiB}\n");
        Write("sys/fs/cgroup/unified/b/memory.max", $"{400 * MiB}\n");

        Assert.Equal(400 * MiB, Limit);
    }

    [Fact]
    public void Other_controllers_of_version_1_say_nothing_about_memory()
    {
        Write("proc/self/mountinfo", "31 22 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct");
        Write("proc/self/cgroup", "2:cpu,cpuacct:/a\n");
        Write("sys/fs/cgroup/cpu/a/memory.limit_in_bytes", "1\n");

        Assert.Equal(1024 * MiB, Limit);
    }

    [Fact]
    public void Free_memory_is_what_the_machine_has_available_and_may_swap()
    {
        Write("proc/meminfo", "MemTotal:        1048576 kB\nMemFree:          4096 kB\nMemAvailable:   102400 kB\nSwapFree:        1024 kB\n");

        Assert.Equal(101 * MiB, LinuxMemoryLimit.FindFree(_directory.Path));
    }

    [Fact]
    public void Free_memory_is_no_more_than_the_limit_of_the_group()
    {
        Write("proc/meminfo", "MemTotal:        1048576 kB\nMemAvailable:   102400 kB\n");
        Write("proc/self/mountinfo", Version2Mount);
        Write("proc/self/cgroup", "0::/\n");
        Write("sys/fs/cgroup/memory.max", $"{64 * MiB}\n");

        Assert.Equal(64 * MiB, LinuxMemoryLimit.FindFree(_directory.Path));
    }

    [Fact]
    public void This_machine_has_a_limit() => Assert.InRange(HostPlatform.Current.MemoryLimitBytes ?? 0, MiB, long.MaxValue);

    private void Write(string path, string text)
    {
        Directory.CreateDirectory(Path.GetDirectoryName(_directory[path])!);
        File.WriteAllText(_directory[path], text);
    }
}
