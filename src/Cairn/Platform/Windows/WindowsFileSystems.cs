// The file systems on which mapped memory is not coherent: those of another machine, and those that a program serves. Windows reports which are remote. It
// does not report which are served by a program, but the names of most of them show it.
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Windows;

internal static class WindowsFileSystems
{
    private const string ShareMarker = @"\\?\UNC\";
    private const string LongPathMarker = @"\\?\";

    /// <summary>Returns the name of a refused kind, as far as names show it, or null for every other kind.</summary>
    /// <param name="kind">The volume's name of its file system, such as "NTFS".</param>
    public static string? RefusedKind(string kind) =>
        kind.StartsWith("FUSE", StringComparison.OrdinalIgnoreCase) || kind.Contains("WinFsp", StringComparison.OrdinalIgnoreCase)
            || kind.StartsWith("Dokan", StringComparison.OrdinalIgnoreCase) || kind.StartsWith("9P", StringComparison.OrdinalIgnoreCase)
            ? kind
            : null;

    /// <summary>Returns whether a path without links is on a share. If it is not, also returns the root of its volume.</summary>
    /// <param name="path">The path in the form of GetFinalPathNameByHandle, with a marker at its beginning.</param>
    /// <param name="root">The root, such as "C:\". Null if the path has another form.</param>
    public static bool IsShare(string path, out string? root)
    {
        bool isShare = path.StartsWith(ShareMarker, StringComparison.OrdinalIgnoreCase);
        string plain = path.StartsWith(LongPathMarker, StringComparison.Ordinal) ? path[LongPathMarker.Length..] : path;
        root = !isShare && plain.Length >= 3 && plain[1] == ':' && plain[2] == '\\' ? plain[..3] : null;
        return isShare;
    }

    /// <summary>Returns the name of the refused kind of an open file's or directory's file system, or null for every other kind.</summary>
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
