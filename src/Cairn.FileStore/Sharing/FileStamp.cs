using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Sharing;

/// <summary>What tells one state of a file from another without reading it. Equal: nobody has touched it in between.</summary>
/// <param name="Device">With <paramref name="Inode"/>, which file it is; both 0 where the system does not tell.</param>
/// <param name="Inode">See <paramref name="Device"/>.</param>
/// <param name="Length">Bytes; -1 if there is no such file.</param>
/// <param name="ChangedTicks">When content, name or permissions last changed; no other meaning than to be compared.</param>
/// <param name="IsWritable">Whether somebody at all may write it.</param>
internal readonly record struct FileStamp(ulong Device, ulong Inode, long Length, long ChangedTicks, bool IsWritable)
{
    /// <summary>No file.</summary>
    public static FileStamp Missing => new(0, 0, -1, 0, false);

    private static bool HasIdentities { get; } = OperatingSystem.IsLinux() && LinuxNative.IsSupportedArchitecture;

    public bool Exists => Length >= 0;

    public bool IsSameFile(in FileStamp other) => Device == other.Device && Inode == other.Inode && Exists == other.Exists;

    /// <summary>The file that has this path now.</summary>
    /// <exception cref="UnauthorizedAccessException">A directory on the way may not be searched.</exception>
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

    /// <summary>An open file.</summary>
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
