namespace Cairn.FileStore.Sharing;

/// <summary>The state of the file after a complete change, as its writer records it in the side file.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct CommitRecord
{
    /// <summary>The generation since which the file has only been appended to.</summary>
    public long BaseGeneration;

    public ulong Device;
    public ulong Inode;

    /// <summary>The length of the file in bytes.</summary>
    public long Length;

    /// <summary><see cref="FileStamp.ChangedTicks"/> after the change.</summary>
    public long ChangedTicks;

    /// <summary>The offset where the last entry ends and the closing brackets begin.</summary>
    public long End;

    public readonly bool IsOfFile(in FileStamp stamp) => Device == stamp.Device && Inode == stamp.Inode && stamp.Exists && BaseGeneration != 0;

    /// <summary>Returns whether the file has not changed since the record was written.</summary>
    public readonly bool Matches(in FileStamp stamp) => IsOfFile(stamp) && Length == stamp.Length && ChangedTicks == stamp.ChangedTicks;
}
