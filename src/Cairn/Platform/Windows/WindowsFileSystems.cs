// The file systems on which mapped memory is not coherent: those of another machine, and those served by a program. Windows says which are remote;
// of those that a program serves it knows nothing, but most say it in their name.
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Windows;

internal static class WindowsFileSystems
{
    private const string ShareMarker = @"\\?\UNC\";
    private const string LongPathMarker = @"\\?\";

    /// <summary>The name of a refused kind, as far as names tell; null for every other.</summary>
    /// <param name="kind">What the volume calls its file system: "NTFS".</param>
    public static string? RefusedKind(string kind) =>
        kind.StartsWith("FUSE", StringComparison.OrdinalIgnoreCase) || kind.Contains("WinFsp", StringComparison.OrdinalIgnoreCase)
            || kind.StartsWith("Dokan", StringComparison.OrdinalIgnoreCase) || kind.StartsWith("9P", StringComparison.OrdinalIgnoreCase)
            ? kind
            : null;

    /// <summary>Whether a path without links is on a share, and the root of its volume if it is not.</summary>
    /// <param name="path">As GetFinalPathNameByHandle gives it: with a marker in front.</param>
    /// <param name="root">"C:\"; null if the path has another form.</param>
    public static bool IsShare(string path, out string? root)
    {
        bool isShare = path.StartsWith(ShareMarker, StringComparison.OrdinalIgnoreCase);
        string plain = path.StartsWith(LongPathMarker, StringComparison.Ordinal) ? path[LongPathMarker.Length..] : path;
        root = !isShare && plain.Length >= 3 && plain[1] == ':' && plain[2] == '\\' ? plain[..3] : null;
        return isShare;
    }

    /// <summary>The name of a refused kind that the open file or directory is on; null for every other.</summary>
    [SupportedOSPlatform("windows")]
    public static unsafe string? RefusedKindOf(SafeFileHandle file)
    {
        const int Characters = 1 << 15;
        var buffer = new char[Characters];
        fixed (char* start = buffer)
        {
            uint length = WindowsNative.GetFinalPathNameByHandleW(file, start, Characters, 0);
            string path = length is > 0 and < Characters ? new string(start, 0, (int)length) : "";
            if (IsShare(path, out string? root))
            {
                return $"a network share ({path.Replace(ShareMarker, @"\\", StringComparison.OrdinalIgnoreCase)})";
            }

            if (root is not null && WindowsNative.GetDriveTypeW(root) == WindowsNative.RemoteDrive)
            {
                return $"a network drive ({root})";
            }

            buffer[0] = '\0';
            uint serial;
            uint longestName;
            uint flags;
            return WindowsNative.GetVolumeInformationByHandleW(file, null, 0, &serial, &longestName, &flags, start, Characters)
                ? RefusedKind(new string(start))
                : null;
        }
    }
}
