namespace Cairn.Platform;

/// <summary>
/// The identity of a file, independent of its names. It is equal for two descriptors of one file, as long as either is open.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
internal readonly record struct FileIdentity(ulong Device, ulong Inode);
