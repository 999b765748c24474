using Cairn.Platform;
using Cairn.Platform.Linux;

namespace Cairn.Tests.Platform;

/// <summary>A file system without P4 is refused.</summary>
public sealed class FileSystemTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    // f_type as statfs(2) reports it: /usr/include/linux/magic.h and GNU coreutils' stat.
    public static TheoryData<long, string> Refused => new()
    {
        { 0x6969, "NFS" },
        { 0x517B, "SMB" },
        { 0xFF534D42, "SMB (CIFS)" },
        { unchecked((int)0xFF534D42), "SMB (CIFS)" },
        { 0xFE534D42, "SMB" },
        { unchecked((int)0xFE534D42), "SMB" },
        { 0x65735546, "FUSE" },
        { 0x01021997, "9P" },
        { 0x00C36400, "Ceph" },
        { 0x5346414F, "AFS" },
        { 0x6B414653, "AFS" },
        { 0x73757245, "Coda" },
        { 0x01161970, "GFS2" },
        { 0x7461636F, "OCFS2" },
        { 0x0BD00BD0, "Lustre" },
        { 0x47504653, "GPFS" },
        { 0x786F4256, "a VirtualBox shared folder" },
        { 0x7C7C6673, "a Parallels shared folder" },
        { 0xBACBACBC, "a VMware shared folder" },
    };

    public static TheoryData<long> Accepted =>
    [
        0xEF53, // ext2, ext3, ext4
        0x58465342, // XFS
        0x9123683E, // Btrfs
        0x2FC12FC1, // ZFS
        0xF2F52010, // F2FS
        0x01021994, // tmpfs
        0x858458F6, // ramfs
        0x794C7630, // OverlayFS
        0x4D44, // FAT
        0x12345678, // an unknown one
    ];

    public void Dispose() => _directory.Dispose();

    [Theory]
    [MemberData(nameof(Refused))]
    public void Network_and_fuse_like_kinds_are_known_by_their_number(long type, string kind) =>
        Assert.Equal(kind, LinuxFileSystems.RefusedKind(type));

    [Theory]
    [MemberData(nameof(Accepted))]
    public void Local_and_unknown_kinds_are_accepted(long type) => Assert.Null(LinuxFileSystems.RefusedKind(type));

    [Fact]
    public void Local_file_is_accepted_whether_it_exists_or_not()
    {
        File.WriteAllText(_directory["here"], "");

        Assert.Null(Record.Exception(() => HostPlatform.Current.RequireSupportedFileSystem(_directory["here"])));
        Assert.Null(Record.Exception(() => HostPlatform.Current.RequireSupportedFileSystem(_directory["not yet"])));
        Assert.Null(Record.Exception(() => HostPlatform.Current.RequireSupportedFileSystem("/dev/shm/not yet")));
    }

    [Fact]
    public void Missing_directory_is_named() =>
        Assert.Throws<DirectoryNotFoundException>(
            () => HostPlatform.Current.RequireSupportedFileSystem(_directory["no/file"]));

    [RequiresMountFact("/dev/fuse")]
    public void Real_fuse_mount_is_refused_with_its_place_the_reason_and_the_alternatives()
    {
        using var mount = TestMount.Fuse();
        string path = mount["store.cairn"];

        var refused = Assert.Throws<StoreUnsupportedFileSystemException>(
            () => HostPlatform.Current.RequireSupportedFileSystem(path));

        Assert.Equal(path, refused.File);
        Assert.Equal($"FUSE (fuse at {mount.Path})", refused.FileSystem);
        Assert.Contains(path, refused.Message, StringComparison.Ordinal);
        Assert.Contains("not coherent", refused.Message, StringComparison.Ordinal);
        Assert.Contains("local disk", refused.Message, StringComparison.Ordinal);
        Assert.Contains("/dev/shm", refused.Message, StringComparison.Ordinal);
        Assert.Contains("cache server", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Override_refuses_any_path_in_its_own_flow_only()
    {
        StoreUnsupportedFileSystemException refused = await Task.Run(() =>
        {
            StorePlatform.RefusedFileSystemOverride = "NFS";
            return Assert.Throws<StoreUnsupportedFileSystemException>(
                () => HostPlatform.Current.RequireSupportedFileSystem(_directory["x"]));
        });

        Assert.Equal("NFS", refused.FileSystem);
        Assert.Null(Record.Exception(() => HostPlatform.Current.RequireSupportedFileSystem(_directory["x"])));
    }

    [Fact]
    public void Mount_of_a_path_is_the_innermost_that_holds_it()
    {
        List<LinuxMount> mounts = LinuxMounts.Parse(
            """
            22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
            30 22 0:30 / /mnt/share rw,nosuid shared:7 master:1 - nfs4 server:/export rw,vers=4.2
            31 22 0:31 /inner /mnt/a\040b rw - fuse.sshfs me@host:/ rw,user_id=0
            malformed
            """);

        Assert.Equal("nfs4", LinuxMounts.Find(mounts, "/mnt/share/deep/file")?.Kind);
        Assert.Equal("ext4", LinuxMounts.Find(mounts, "/mnt/shared/file")?.Kind);
        Assert.Equal(
            new LinuxMount("/inner", "/mnt/a b", "fuse.sshfs", "rw,user_id=0"), LinuxMounts.Find(mounts, "/mnt/a b/file"));
    }
}
