using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Sharing;

/// <summary>Identifies a state of a file without its content. If two stamps are equal, the file has not changed between them.</summary>
/// <param name="Device">The device. It identifies the file together with <paramref name="Inode"/>; both are 0 if unknown.</param>
/// <param name="Inode">The inode; see <paramref name="Device"/>.</param>
/// <param name="Length">The length in bytes; -1 if the file does not exist.</param>
/// <param name="ChangedTicks">The time of the last change of content, name or permissions. It is only compared for equality.</param>
/// <param name="IsWritable">Whether the permissions allow any user to write to the file.</param>
internal readonly record struct FileStamp(ulong Device, ulong Inode, long Length, long ChangedTicks, bool IsWritable)
{
    /// <summary>Gets the stamp of a file that does not exist.</summary>
    public static FileStamp Missing => new(0, 0, -1, 0, false);

    private static bool HasIdentities { get; } = OperatingSystem.IsLinux() && LinuxNative.IsSupportedArchitecture;

    public bool Exists => Length >= 0;

    public bool IsSameFile(in FileStamp other) => Device == other.Device && Inode == other.Inode && Exists == other.Exists;

    /// <summary>Returns the stamp of the file that currently has this path.</summary>
    /// <exception cref="UnauthorizedAccessException">The user has no permission to search a directory of the path.</exception>
    public static FileStamp Of(string path)
    {
        if (!HasIdentities)
        {
            var file = new FileInfo(path);
            return file.Exists ? new FileStamp(0, 0, file.Length, file.LastWriteTimeUtc.Ticks, !file.IsReadOnly) : Missing;
        }

        int error = LinuxNative.StatPath(path, flags: 0, out LinuxNative.FileStatus status);
        return error switch
        {
            0 => Of(status),
            LinuxErrors.NoEntry or LinuxErrors.NotDirectory => Missing,
            LinuxErrors.AccessDenied => throw new UnauthorizedAccessException($"The file '{path}' is in a directory that this user may not search."),
            _ => throw new IOException($"The state of the file '{path}' could not be read: {LinuxErrors.Text(error)}."),
        };
    }

    /// <summary>Returns the stamp of an open file.</summary>
    public static FileStamp Of(SafeFileHandle handle, string path)
    {
        if (!HasIdentities)
        {
            return new FileStamp(0, 0, RandomAccess.GetLength(handle), File.GetLastWriteTimeUtc(handle).Ticks, !new FileInfo(path).IsReadOnly);
        }

        int error = LinuxNative.StatFile(handle, out LinuxNative.FileStatus status);
        return error == 0
            ? Of(status)
            : throw new IOException($"The state of the file '{path}' could not be read: {LinuxErrors.Text(error)}.");
    }

    private static FileStamp Of(in LinuxNative.FileStatus status) => new(
        status.Identity.Device,
        status.Identity.Inode,
        status.Size,
        (status.ChangedSeconds * 1_000_000_000) + status.ChangedNanoseconds,
        (status.Mode & 0b010_010_010) != 0);
}
