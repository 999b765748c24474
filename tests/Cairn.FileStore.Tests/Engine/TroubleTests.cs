using System.Runtime.CompilerServices;
using System.Runtime.Versioning;
using System.Text;
using System.Text.Json;
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Tests.Engine;

/// <summary>Damaged files, full disks and other faults, and the reaction of the cache.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class TroubleTests : IDisposable
{
    private const string Good = "{\"format\":\"cairn.filestore/2\",\"entries\":[\n[\"a\",\"1\"],\n[\"b\",\"2\"]\n]}\n";

    private readonly CacheFile _file = new();

    public void Dispose() => _file.Dispose();

    [Theory]
    [InlineData(3)] // The end is within the closing brackets.
    [InlineData(5)] // The end is within the last entry.
    [InlineData(10)]
    [InlineData(14)]
    public void Torn_tail_costs_only_the_entry_that_was_torn(int missingBytes)
    {
        _file.Text = Good[..^missingBytes];

        DistributedFileStoreCacheString cache = _file.Open();

        Assert.Equal("1", cache.Get("a"));
        Assert.Equal(missingBytes == 3 ? "2" : null, cache.Get("b"));
        cache.Set("c", "3");
        AssertSound("1", "3");
    }

    [Fact]
    public void Tail_that_a_dead_writer_left_is_dropped_by_the_next_change()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");
        byte[] whole = File.ReadAllBytes(_file.FilePath);

        WriteAt(whole.Length - 4, ",\n[\"b\",\"to");

        Assert.Equal("1", _file.Open().Get("a"));
        cache.Set("c", "3");
        Assert.Null(cache.Get("b"));
        AssertSound("1", "3");
    }

    [Fact]
    public void Batch_that_a_dead_writer_left_half_written_is_dropped_as_a_whole()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");
        long end = new FileInfo(_file.FilePath).Length - 4;

        WriteAt(end, ",\n[\"b\",\"2\"],\n[\"c\",\"val");

        Assert.Null(_file.Open().Get("b"));
        cache.Set("d", "4");
        Assert.Null(cache.Get("b"));
        AssertSound("1", null);
    }

    [Fact]
    public void Change_that_a_dead_writer_completed_but_did_not_announce_counts()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");

        WriteAt(new FileInfo(_file.FilePath).Length - 4, ",\n[\"c\",\"3\"]\n]}\n");

        cache.Set("d", "4");
        Assert.Equal("3", cache.Get("c"));
        AssertSound("1", "3");
    }

    [Fact]
    public void Tail_of_zeros_as_after_a_power_loss_is_dropped()
    {
        _file.Text = Good[..^4] + ",\n" + new string('\0', 100);

        DistributedFileStoreCacheString cache = _file.Open();

        Assert.Equal("2", cache.Get("b"));
        cache.Set("c", "3");
        AssertSound("1", "3");
    }

    [Fact]
    public void Half_written_rewrite_is_ignored_and_overwritten()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");
        File.WriteAllText(_file.FilePath + ".rewriting", Good[..30]);

        Assert.Equal("1", _file.Open().Get("a"));
        cache.ClearAll([new("a", "1"), new("c", "3")]);

        AssertSound("1", "3");
        Assert.DoesNotContain(_file.FileNames, name => name.EndsWith(".rewriting", StringComparison.Ordinal));
    }

    [Fact]
    public void Deleted_file_is_an_empty_cache()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");

        File.Delete(_file.FilePath);

        Eventually.Equal(null, () => cache.Get("a"));
        cache.Set("c", "3");
        AssertSound(null, "3");
    }

    [Fact]
    public void Change_right_after_the_file_was_deleted_brings_nothing_back()
    {
        DistributedFileStoreCacheString cache = _file.Open(options => options.ChangePollInterval = TimeSpan.FromHours(1));
        cache.Set("a", "1");

        File.Delete(_file.FilePath);
        cache.Set("c", "3");

        Assert.Null(cache.Get("a"));
        AssertSound(null, "3");
    }

    [Fact]
    public void Replaced_file_is_read()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "old");

        _file.Replace(Good);

        Eventually.Equal("1", () => cache.Get("a"));
        cache.Set("c", "3");
        AssertSound("1", "3");
    }

    [Fact]
    public void Change_right_after_the_file_was_replaced_builds_on_the_new_one()
    {
        DistributedFileStoreCacheString cache = _file.Open(options => options.ChangePollInterval = TimeSpan.FromHours(1));
        cache.Set("old", "1");

        _file.Replace(Good);
        cache.Set("c", "3");

        Assert.Null(cache.Get("old"));
        AssertSound("1", "3");
    }

    [Fact]
    public void File_that_was_edited_in_place_is_read()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.SetMany([new("a", "x"), new("b", "2")]);

        _file.Overwrite(_file.Text.Replace("\"x\"", "\"1\"", StringComparison.Ordinal)); // The file has the same length as before.

        Eventually.Equal("1", () => cache.Get("a"));
        cache.Set("c", "3");
        AssertSound("1", "3");
    }

    [Fact]
    public void Truncated_file_has_what_is_left_of_it()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.SetMany([new("a", "1"), new("b", "2")]);

        using (FileStream stream = File.Open(_file.FilePath, FileMode.Open, FileAccess.Write, FileShare.ReadWrite))
        {
            stream.SetLength(stream.Length - 10);
        }

        Eventually.Equal(null, () => cache.Get("b"));
        Assert.Equal("1", cache.Get("a"));
        cache.Set("c", "3");
        AssertSound("1", "3");
    }

    [Fact]
    public void File_of_0_bytes_is_an_empty_cache()
    {
        _file.Text = "";

        DistributedFileStoreCacheString cache = _file.Open();

        Assert.Empty(cache.GetAllKeyValues());
        cache.Set("c", "3");
        AssertSound(null, "3");
    }

    [Fact]
    public void File_that_is_emptied_is_an_empty_cache()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");

        _file.Overwrite("");

        Eventually.Equal(null, () => cache.Get("a"));
        cache.Set("c", "3");
        AssertSound(null, "3");
    }

    [Fact]
    public void Byte_order_mark_is_read_over()
    {
        File.WriteAllText(_file.FilePath, Good, new UTF8Encoding(encoderShouldEmitUTF8Identifier: true));

        DistributedFileStoreCacheString cache = _file.Open();

        Assert.Equal("1", cache.Get("a"));
        cache.Set("c", "3");
        Assert.Equal("3", _file.Open().Get("c"));
        Assert.Equal("1", _file.Open().Get("a"));
    }

    [Fact]
    public void Broken_edit_leaves_readers_the_earlier_content_and_is_not_overwritten_until_it_is_corrected()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        DistributedFileStoreCacheString other = _file.Open();
        cache.SetMany([new("a", "1"), new("b", "2")]);
        Assert.Equal("2", other.Get("b"));
        string broken = _file.Text.Replace("\"b\",", "\"b\"", StringComparison.Ordinal);

        _file.Replace(broken);

        var refusal = Assert.Throws<FileStoreFormatException>(() => cache.Set("c", "3"));
        Assert.Equal((3, 5), (refusal.Line, refusal.Column));
        Assert.Contains("line 3, column 5", refusal.Message, StringComparison.Ordinal);
        Assert.Throws<FileStoreFormatException>(() => other.Remove("a"));
        Assert.Equal("1", cache.Get("a"));
        Assert.Equal("2", other.Get("b"));
        Assert.Equal(broken, _file.Text);

        _file.Replace(Good);
        cache.Set("c", "3");
        AssertSound("1", "3");
    }

    [Fact]
    public void Broken_file_is_replaced_when_everything_is_cleared()
    {
        _file.Text = "this is not a cache file";
        DistributedFileStoreCacheString cache = _file.Open();

        Assert.Null(cache.Get("a"));
        Assert.Throws<FileStoreFormatException>(() => cache.Set("c", "3"));
        cache.ClearAll([new("c", "3")]);

        AssertSound(null, "3");
    }

    [Fact]
    public void Cache_opened_on_a_broken_file_misses_until_the_file_is_repaired()
    {
        _file.Text = Good.Replace("],", "]", StringComparison.Ordinal);
        DistributedFileStoreCacheString cache = _file.Open();

        Assert.Null(cache.Get("a"));
        _file.Text = Good;

        Eventually.Equal("1", () => cache.Get("a"));
    }

    [Fact]
    public void Read_only_file_is_served_and_not_written()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");
        string before = _file.Text;

        File.SetUnixFileMode(_file.FilePath, UnixFileMode.UserRead);

        Assert.Contains("read-only", Assert.Throws<UnauthorizedAccessException>(() => cache.Set("c", "3")).Message, StringComparison.Ordinal);
        Assert.Throws<UnauthorizedAccessException>(() => cache.ClearAll());
        Assert.Equal("1", cache.Get("a"));
        Assert.Equal(before, _file.Text);
        File.SetUnixFileMode(_file.FilePath, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        cache.Set("c", "3");
        AssertSound("1", "3");
    }

    [Fact]
    public void File_that_another_program_has_to_itself_is_served_and_written_when_it_is_free_again()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");

        using (File.Open(_file.FilePath, FileMode.Open, FileAccess.ReadWrite, FileShare.None))
        {
            Assert.Contains("locked by another program", Assert.ThrowsAny<IOException>(() => cache.Set("c", "3")).Message, StringComparison.Ordinal);
            Assert.Equal("1", cache.Get("a"));
            Assert.Null(_file.Open().Get("c"));
        }

        cache.Set("c", "3");
        AssertSound("1", "3");
    }

    [Fact]
    public void File_that_another_program_has_locked_with_fcntl_is_served_and_not_written()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");
        SafeFileHandle handle = File.OpenHandle(_file.FilePath, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);

        using (var program = new LinuxStoreFile(handle, _file.FilePath, isPublished: true))
        {
            Assert.True(program.TryLockRange(0, 1));
            Assert.Contains("locked by another program", Assert.ThrowsAny<IOException>(() => cache.Set("c", "3")).Message, StringComparison.Ordinal);
            Assert.Equal("1", cache.Get("a"));
        }

        cache.Set("c", "3");
        AssertSound("1", "3");
    }

    [Fact]
    public void Missing_directory_is_an_empty_cache_and_an_error_that_names_it_until_it_is_made()
    {
        string directory = Path.Combine(_file.DirectoryPath, "later");
        using var cache = new DistributedFileStoreCacheString(CacheFile.Options(directory));

        Assert.Null(cache.Get("a"));
        Assert.Empty(cache.GetAllKeyValues());
        Assert.Contains(directory, Assert.Throws<DirectoryNotFoundException>(() => cache.Set("a", "1")).Message, StringComparison.Ordinal);
        Directory.CreateDirectory(directory);
        cache.Set("a", "1");

        using var other = new DistributedFileStoreCacheString(CacheFile.Options(directory));
        Assert.Equal("1", other.Get("a"));
        other.Set("a", "2");
        Assert.Equal("2", cache.Get("a"));
    }

    [RequiresMountFact]
    public void Full_disk_is_an_error_and_leaves_the_file_as_it_was()
    {
        using TestMount mount = TestMount.Tmpfs(256 << 10);
        using var cache = new DistributedFileStoreCacheString(CacheFile.Options(mount.Path));
        cache.Set("a", "1");
        string path = mount["FileStoreCacheFile.Test.json"];
        string before = File.ReadAllText(path);

        Assert.ThrowsAny<IOException>(() => cache.Set("b", new string('x', 400_000)));
        Assert.ThrowsAny<IOException>(() => cache.ClearAll([new("b", new string('x', 400_000))]));

        Assert.Equal(before, File.ReadAllText(path));
        Assert.Equal("1", cache.Get("a"));
        Assert.Null(cache.Get("b"));
        cache.Set("c", "3");
        using var other = new DistributedFileStoreCacheString(CacheFile.Options(mount.Path));
        Assert.Equal("3", other.Get("c"));
        Assert.Equal("1", other.Get("a"));
    }

    [RequiresMountFact]
    public void Read_only_file_system_is_served_and_not_written()
    {
        using TestMount mount = TestMount.Tmpfs(1 << 20);
        WriteAndForget(mount.Path);
        GC.Collect();
        GC.WaitForPendingFinalizers(); // The last reader owns the mapping, which keeps the file system busy.
        mount.MakeReadOnly();
        using var cache = new DistributedFileStoreCacheString(CacheFile.Options(mount.Path));

        Assert.Equal("1", cache.Get("a"));
        Assert.Throws<UnauthorizedAccessException>(() => cache.Set("b", "2"));
        Assert.Equal("1", cache.Get("a"));
    }

    [Fact]
    public void Side_file_that_is_removed_while_the_cache_is_used_is_made_again()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        DistributedFileStoreCacheString other = _file.Open();
        cache.Set("a", "1");
        Assert.Equal("1", other.Get("a"));

        File.Delete(_file.SidePath);
        cache.Set("a", "2");

        Eventually.Equal("2", () => other.Get("a"));
        other.Set("a", "3");
        Assert.Equal("3", cache.Get("a"));
    }

    [Fact]
    public void Lock_that_another_process_holds_for_too_long_is_an_error_that_names_the_process()
    {
        using var held = new HeldTurn(_file.SidePath);
        DistributedFileStoreCacheString cache = _file.Open(options => options.LockTimeout = TimeSpan.FromMilliseconds(30));

        Assert.Contains(_file.SidePath, Assert.Throws<DistributedFileStoreCacheException>(() => cache.Set("a", "1")).Message, StringComparison.Ordinal);
        Assert.Null(cache.Get("a"));

        held.Dispose();
        cache.Set("a", "1");
        Assert.Equal("1", cache.Get("a"));
    }

    [Fact]
    public void Link_to_a_file_stays_a_link_when_the_file_is_rewritten()
    {
        string target = Path.Combine(_file.DirectoryPath, "target.json");
        File.WriteAllText(target, Good);
        File.CreateSymbolicLink(_file.FilePath, target);
        DistributedFileStoreCacheString cache = _file.Open();

        cache.ClearAll([new("c", "3")]);

        Assert.Equal(target, new FileInfo(_file.FilePath).LinkTarget);
        Assert.Contains("\"c\"", File.ReadAllText(target), StringComparison.Ordinal);
    }

    [Fact]
    public void Permissions_of_the_file_are_kept_when_it_is_rewritten()
    {
        const UnixFileMode Mode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite;
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");
        File.SetUnixFileMode(_file.FilePath, Mode);

        cache.ClearAll();

        Assert.Equal(Mode, File.GetUnixFileMode(_file.FilePath));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void WriteAndForget(string directory)
    {
        using var writer = new DistributedFileStoreCacheString(CacheFile.Options(directory));
        writer.Set("a", "1");
    }

    private void WriteAt(long offset, string text)
    {
        using FileStream stream = File.Open(_file.FilePath, FileMode.Open, FileAccess.Write, FileShare.ReadWrite);
        stream.Position = offset;
        stream.Write(Encoding.UTF8.GetBytes(text));
    }

    // Checks that the file is valid JSON, and that a cache which opens it now finds the expected values.
    private void AssertSound(string? a, string? c)
    {
        JsonDocument.Parse(File.ReadAllBytes(_file.FilePath)).Dispose();
        DistributedFileStoreCacheString fresh = _file.Open();
        Assert.Equal(a, fresh.Get("a"));
        Assert.Equal(c, fresh.Get("c"));
    }
}
