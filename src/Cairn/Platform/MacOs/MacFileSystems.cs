// The file systems on which mapped memory is not coherent. macOS says itself which are of another machine; those that are served by a program on this
// one are told by their names (statfs(2), f_fstypename). Everything else is taken for local.
namespace Cairn.Platform.MacOs;

internal static class MacFileSystems
{
    /// <summary>The name of a refused kind; null for every other.</summary>
    /// <param name="kind">"apfs".</param>
    /// <param name="isLocal">What the system says.</param>
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
