using System.Runtime.InteropServices;

namespace Cairn.Platform;

/// <summary>Which file this is, whatever its names: equal for two descriptors of one file, for as long as either is
/// open.</summary>
[StructLayout(LayoutKind.Sequential)]
internal readonly record struct FileIdentity(ulong Device, ulong Inode);
