using System.Runtime.Versioning;
using Cairn.Platform;

namespace Cairn.Tests.Platform;

/// <summary>Files that have their name from the beginning, such as those of the log.</summary>
[SupportedOSPlatform("linux")]
public sealed class NamedFileTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Target => _directory["store.cairn.log-0000000001"];

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Created_file_is_empty_and_for_its_owner_only()
    {
        using StoreFile? file = HostPlatform.Current.TryCreate(Target);

        Assert.NotNull(file);
        Assert.Equal(0, file.Length);
        Assert.Equal(Target, file.Path);
        Assert.True(file.IsStillAt(Target));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Target));
    }

    [Fact]
    public void Taken_name_is_left_alone()
    {
        File.WriteAllText(Target, "first");

        Assert.Null(HostPlatform.Current.TryCreate(Target));

        Assert.Equal("first", File.ReadAllText(Target));
    }

    [Fact]
    public void Link_that_leads_nowhere_is_a_taken_name()
    {
        File.CreateSymbolicLink(Target, _directory["elsewhere"]);

        Assert.Null(HostPlatform.Current.TryCreate(Target));
    }

    [Fact]
    public void Creation_in_a_missing_directory_says_so()
    {
        DirectoryNotFoundException failure = Assert.Throws<DirectoryNotFoundException>(
            () => HostPlatform.Current.TryCreate(Path.Combine(_directory.Path, "missing", "file")));

        Assert.Contains("missing", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void File_takes_over_the_permissions_of_another()
    {
        string other = _directory["store.cairn"];
        File.WriteAllText(other, "store");
        const UnixFileMode Shared =
            UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite;
        File.SetUnixFileMode(other, Shared);
        using StoreFile file = HostPlatform.Current.TryCreate(Target)!;

        file.KeepPermissionsOf(other);

        Assert.Equal(Shared, File.GetUnixFileMode(Target));
    }

    [Fact]
    public void Deleted_file_stays_with_processes_that_have_it_open()
    {
        using StoreFile file = HostPlatform.Current.TryCreate(Target)!;
        file.Write(0, "content"u8);

        HostPlatform.Current.Delete(Target);

        Assert.Empty(_directory.FileNames);
        Assert.Equal(7, file.Length);
        Assert.False(file.IsStillAt(Target));
    }

    [Fact]
    public void Deleting_what_is_not_there_changes_nothing()
    {
        HostPlatform.Current.Delete(Target);

        Assert.Empty(_directory.FileNames);
    }

    [Fact]
    public void Names_are_listed_by_how_they_begin()
    {
        foreach (string name in new[] { "store.log-2", "store.log-1", "store", "Store.log-3", "other" })
        {
            File.WriteAllText(_directory[name], "");
        }

        Assert.Equal(["store.log-1", "store.log-2"], HostPlatform.Current.ListNames(_directory.Path, "store.log-").Order(StringComparer.Ordinal));
        Assert.Empty(HostPlatform.Current.ListNames(Path.Combine(_directory.Path, "missing"), "store"));
    }

    [Fact]
    public void Directory_can_be_flushed_and_a_missing_one_cannot()
    {
        HostPlatform.Current.FlushDirectory(_directory.Path);

        Assert.Throws<StoreException>(() => HostPlatform.Current.FlushDirectory(Path.Combine(_directory.Path, "missing")));
    }
}
