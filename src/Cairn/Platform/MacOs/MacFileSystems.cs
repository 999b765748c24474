// The file systems on which mapped memory is not coherent. macOS itself reports which file systems belong to another machine. Those that a program on this
// machine serves are recognized by their names (statfs(2), f_fstypename). Every other file system counts as local.
namespace Cairn.Platform.MacOs;

internal static class MacFileSystems
{
    /// <summary>Returns the name of a refused kind, or null for every other kind.</summary>
    /// <param name="kind">The name of the file system, such as "apfs".</param>
    /// <param name="isLocal">Whether the system reports that the file system is local.</param>
    public static string? RefusedKind(string kind, bool isLocal) => kind switch
    {
        "nfs" => "NFS",
        "smbfs" => "SMB",
        "afpfs" => "AFP",
        "webdav" => "WebDAV",
        "ftp" => "FTP",
        "AppleVirtIOFS" or "virtiofs" => "virtiofs",
        "9p" => "9P",
        "macfuse" or "osxfuse" or "osxfusefs" or "fusefs" or "fuse-t" => "FUSE",
        "lifs" => "a file system served by a program (lifs)",
        _ when kind.StartsWith("acfs", StringComparison.Ordinal) || kind.StartsWith("prl_fs", StringComparison.Ordinal) => kind,
        _ => isLocal ? null : $"a network file system ({kind})",
    };
}
