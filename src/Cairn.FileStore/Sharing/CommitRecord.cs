using System.Runtime.InteropServices;

namespace Cairn.FileStore.Sharing;

/// <summary>What a writer says of the file when its change is complete. Lies in the side file.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct CommitRecord
{
    /// <summary>The generation since which the file has only been appended to.</summary>
    public long BaseGeneration;

    public ulong Device;
    public ulong Inode;

    /// <summary>Bytes of the file.</summary>
    public long Length;

    /// <summary><see cref="FileStamp.ChangedTicks"/> after the change.</summary>
    public long ChangedTicks;

    /// <summary>Where the last entry ends and the closing brackets begin.</summary>
    public long End;

    public readonly bool IsOfFile(in FileStamp stamp) => Device == stamp.Device && Inode == stamp.Inode && stamp.Exists && BaseGeneration != 0;

    /// <summary>Whether nobody has touched the file since.</summary>
    public readonly bool Matches(in FileStamp stamp) => IsOfFile(stamp) && Length == stamp.Length && ChangedTicks == stamp.ChangedTicks;
}
