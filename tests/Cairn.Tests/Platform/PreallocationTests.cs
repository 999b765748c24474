using System.Globalization;
using Cairn.Platform;
using Cairn.Platform.Linux;

namespace Cairn.Tests.Platform;

/// <summary>P2: space is reserved before it is used, or the caller gets an error.</summary>
public sealed class PreallocationTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(null)]
    [InlineData("/dev/shm")]
    public void Preallocating_grows_the_file_with_zeros_and_keeps_what_is_there(string? parent)
    {
        using var directory = new TestDirectory(parent);
        using StoreFile file = HostPlatform.Current.CreateUnnamed(directory.Path, "store");
        file.Write(0, "present"u8);

        file.Preallocate(0, 100_000);

        Assert.Equal(100_000, file.Length);
        byte[] bytes = ReadAll(file);
        Assert.Equal("present"u8.ToArray(), bytes[..7]);
        Assert.Equal(new byte[100_000 - 7], bytes[7..]);
    }

    [Fact]
    public void Preallocating_inside_the_file_changes_neither_length_nor_bytes()
    {
        using StoreFile file = HostPlatform.Current.CreateUnnamed(_directory.Path, "store");
        byte[] bytes = [.. Enumerable.Range(0, 10_000).Select(i => (byte)i)];
        file.Write(0, bytes);

        file.Preallocate(1, 5000);
        file.Preallocate(9999, 0);

        Assert.Equal(bytes, ReadAll(file));
    }

    [Fact]
    public void Length_of_a_range_is_checked()
    {
        using StoreFile file = HostPlatform.Current.CreateUnnamed(_directory.Path, "store");

        Assert.Throws<ArgumentOutOfRangeException>(() => file.Preallocate(-1, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => file.Preallocate(0, -1));
        Assert.Throws<OverflowException>(() => file.Preallocate(long.MaxValue, 2));
    }

    [RequiresMountFact]
    public void Full_tmpfs_is_an_error_that_says_what_was_needed_and_where()
    {
        using var mount = TestMount.Tmpfs(1 << 20);
        using StoreFile file = HostPlatform.Current.CreateUnnamed(mount.Path, "store");
        file.Preallocate(0, 512 << 10);

        var full = Assert.Throws<StoreException>(() => file.Preallocate(512 << 10, 1 << 20));

        Assert.Contains($"'{mount["store"]}' needs 1 MiB", full.Message, StringComparison.Ordinal);
        Assert.Contains("full (512 KiB are available)", full.Message, StringComparison.Ordinal);
        Assert.Equal(512 << 10, file.Length);
        file.Preallocate(512 << 10, 512 << 10);
    }

    [Fact]
    public void File_in_memory_takes_no_more_than_is_free()
    {
        using var directory = new TestDirectory("/dev/shm");
        using StoreFile file = HostPlatform.Current.CreateUnnamed(directory.Path, "store");
        StorePlatform.FreeMemoryOverride = 100_000;

        var full = Assert.Throws<StoreException>(() => file.Preallocate(0, 100_001));

        Assert.Contains($"'{directory["store"]}' needs 97.7 KiB, but its file system is in memory", full.Message, StringComparison.Ordinal);
        Assert.Contains("(97.7 KiB are available)", full.Message, StringComparison.Ordinal);
        Assert.Equal(0, file.Length);
        file.Preallocate(0, 100_000);
    }

    [RequiresMountFact("/usr/sbin/mkfs.ext4", "/dev/loop-control")]
    public void File_on_a_disk_may_be_larger_than_the_free_memory()
    {
        using TestMount mount = TestMount.Ext4(8 << 20);
        using StoreFile file = HostPlatform.Current.CreateUnnamed(mount.Path, "store");
        StorePlatform.FreeMemoryOverride = 1;

        file.Preallocate(0, 100_000);

        Assert.Equal(100_000, file.Length);
    }

    [RequiresMountFact("/usr/sbin/mkfs.ext4", "/dev/loop-control")]
    public void Failure_on_a_full_disk_gives_back_the_space_it_took()
    {
        using var mount = TestMount.Ext4(16 << 20);
        using StoreFile file = HostPlatform.Current.CreateUnnamed(mount.Path, "store");
        file.Preallocate(0, 1 << 20);
        long freeBefore = new DriveInfo(mount.Path).TotalFreeSpace;

        var full = Assert.Throws<StoreException>(() => file.Preallocate(1 << 20, 1L << 30));

        Assert.Contains("needs 1 GiB", full.Message, StringComparison.Ordinal);
        Assert.Equal(1 << 20, file.Length);

        // Except for a few blocks that the file system uses to describe the file.
        Assert.InRange(new DriveInfo(mount.Path).TotalFreeSpace, freeBefore - (64 << 10), freeBefore);
    }

    [RequiresMountFact]
    public void File_system_that_cannot_reserve_space_is_filled_with_zeros()
    {
        using var mount = TestMount.Ramfs();
        using StoreFile file = HostPlatform.Current.CreateUnnamed(mount.Path, "store");
        file.Write(0, "present"u8);

        file.Preallocate(0, 3_000_000);

        byte[] bytes = ReadAll(file);
        Assert.Equal("present"u8.ToArray(), bytes[..7]);
        Assert.Equal(new byte[3_000_000 - 7], bytes[7..]);
    }

    [Fact]
    public void Limit_on_the_size_of_files_is_an_error_and_not_the_end_of_the_process()
    {
        using ChildProcess child = ChildProcess.Start(
            typeof(Program), "preallocate-with-limit", _directory.Path, "1000000", "65536");

        string report = child.ReadLine();
        string length = child.ReadLine();

        Assert.StartsWith("StoreException: ", report, StringComparison.Ordinal);
        Assert.Contains("needs 977 KiB", report, StringComparison.Ordinal);
        Assert.Contains("ulimit -f", report, StringComparison.Ordinal);
        Assert.Equal("0", length);
        Assert.Equal(0, child.Finish());
    }

    [Theory]
    [InlineData(null)]
    [InlineData("/dev/shm")] // tmpfs has no operation that zeroes a range.
    public void Zeroing_a_range_keeps_its_neighbours_and_the_length(string? parent)
    {
        using var directory = new TestDirectory(parent);
        using StoreFile file = HostPlatform.Current.CreateUnnamed(directory.Path, "store");
        byte[] bytes = new byte[20_000];
        Array.Fill(bytes, (byte)7);
        file.Write(0, bytes);

        file.ZeroRange(5000, 10_001);
        file.ZeroRange(19_999, 50_000);
        file.ZeroRange(30_000, 10);

        Array.Clear(bytes, 5000, 10_001);
        bytes[19_999] = 0;
        Assert.Equal(bytes, ReadAll(file));
    }

    [RequiresMountFact]
    public void Zeroing_works_on_a_file_system_without_room_to_spare()
    {
        using var mount = TestMount.Tmpfs(1 << 20);
        using StoreFile file = HostPlatform.Current.CreateUnnamed(mount.Path, "store");
        file.Preallocate(0, 1 << 20);
        file.Write(1000, "old"u8);

        file.ZeroRange(0, 1 << 20);

        Assert.Equal(new byte[1 << 20], ReadAll(file));
    }

    [RequiresMountFact]
    public void Write_to_a_full_file_system_is_an_error_that_says_so()
    {
        using var mount = TestMount.Tmpfs(64 << 10);
        using StoreFile file = HostPlatform.Current.CreateUnnamed(mount.Path, "store");

        var full = Assert.Throws<StoreException>(() => file.Write(0, new byte[128 << 10]));

        Assert.Contains("needs 128 KiB, but its file system is full", full.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(LinuxErrors.InputOutput, "could not be created: Input/output error (error 5). Check the disk")]
    [InlineData(LinuxErrors.NoSpace, "no room for another file")]
    [InlineData(LinuxErrors.QuotaExceeded, "this user's disk quota is exhausted. Raise it")]
    [InlineData(LinuxErrors.TooManyLinks, "too many symbolic links")]
    [InlineData(LinuxErrors.CrossDevice, "prepared on another file system")]
    [InlineData(LinuxErrors.TooManyFilesInProcess, "too many files are open. Close some files of this process, or raise 'ulimit -n'.")]
    [InlineData(LinuxErrors.TooManyFilesOnMachine, "too many files are open. Close some files on this machine, or raise fs.file-max.")]
    public void Creation_or_new_name_that_fails_has_a_message_with_the_cause_and_a_remedy(int error, string text) =>
        Assert.Contains(text, LinuxErrors.CreateIn("/directory", "store", error).Message, StringComparison.Ordinal);

    [Fact]
    public void Available_bytes_are_named_only_when_known()
    {
        const int NoSpace = LinuxErrors.NoSpace;

        Assert.Contains("(5 B are available)", LinuxErrors.NoRoom("f", 9, 5, NoSpace).Message, StringComparison.Ordinal);
        Assert.DoesNotContain("available", LinuxErrors.NoRoom("f", 9, null, NoSpace).Message, StringComparison.Ordinal);
        Assert.Contains(
            "quota", LinuxErrors.NoRoom("f", 9, 5, LinuxErrors.QuotaExceeded).Message, StringComparison.Ordinal);
        Assert.Contains(
            LinuxErrors.InputOutput.ToString(CultureInfo.InvariantCulture),
            LinuxErrors.NoRoom("f", 9, 5, LinuxErrors.InputOutput).Message,
            StringComparison.Ordinal);
    }

    private static byte[] ReadAll(StoreFile file)
    {
        byte[] bytes = new byte[file.Length];
        Assert.Equal(bytes.Length, file.Read(0, bytes));
        return bytes;
    }
}
