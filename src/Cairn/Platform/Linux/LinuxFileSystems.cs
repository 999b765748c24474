// The file systems on which mapped memory is not coherent: those that several machines share, and those that a program serves. They are recognized by the
// number that statfs(2) reports. The sources of the numbers are linux/magic.h and, for drivers that are not part of Linux, their own sources or GNU
// coreutils' list. Every other file system counts as local: a new local one must not be refused because it is unknown, and new network file systems are
// rarer.
//
// Two file systems are not in the list on purpose. The files of OverlayFS are those of the layer below, and its writable layer cannot be NFS. The pages of
// eCryptfs are the machine's own.
namespace Cairn.Platform.Linux;

internal static class LinuxFileSystems
{
    private const uint Tmpfs = 0x0102_1994;
    private const uint Ramfs = 0x8584_58F6;

    /// <summary>Returns whether files of this file system are only in memory.</summary>
    /// <param name="type">f_type, as for <see cref="RefusedKind"/>.</param>
    public static bool IsMemory(long type) => (uint)type is Tmpfs or Ramfs;

    /// <summary>Returns the name of a refused kind, or null for every other kind.</summary>
    /// <param name="type">f_type. On some systems its upper half is the sign extension of the lower half.</param>
    public static string? RefusedKind(long type) => (uint)type switch
    {
        0x0000_6969 => "NFS",
        0x0000_517B => "SMB",
        0xFF53_4D42 => "SMB (CIFS)",
        0xFE53_4D42 => "SMB",
        0x6573_5546 => "FUSE", // also virtiofs, sshfs, s3fs, ntfs-3g, rclone, Docker Desktop's shares
        0x0102_1997 => "9P", // also Windows drives in WSL 2, and gVisor's files
        0x00C3_6400 => "Ceph",
        0x5346_414F => "AFS", // OpenAFS
        0x6B41_4653 => "AFS", // the kernel's
        0x7375_7245 => "Coda",
        0x0000_564C => "NCP",
        0x0116_1970 => "GFS2",
        0x7461_636F => "OCFS2",
        0x0BD0_0BD0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x1983_0326 => "BeeGFS",
        0x2003_0528 => "OrangeFS",
        0xAAD7_AAEA => "PanFS",
        0x0131_11A8 => "Ibrix",
        0x6163_6673 => "ACFS",
        0xBEEF_DEAD => "SNFS",
        0x786F_4256 => "a VirtualBox shared folder",
        0x7C7C_6673 => "a Parallels shared folder",
        0xBACB_ACBC => "a VMware shared folder",
        0x00C0_FFEE => "a User-mode Linux host folder",
        _ => null,
    };
}
