using System.Runtime.InteropServices;
using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.WriteAhead;

/// <summary>What a store's file says must be in the log beside it, however the log ends. 0 where it says nothing.</summary>
/// <param name="Durable">Every record below this position was on the disk.</param>
/// <param name="Sequence">The piece of this number was there, and on the disk.</param>
/// <param name="SnapshotStart">A snapshot was there, which the log completes from this position on, or a newer one.</param>
internal readonly record struct LogPromise(long Durable, long Sequence, long SnapshotStart)
{
    public static unsafe LogPromise Of(LogBlock* block) => new(
        LogMark.PositionOf(Volatile.Read(ref block->DurableMark)),
        LogMark.NumberOf(Volatile.Read(ref block->PieceMark)),
        LogMark.PositionOf(Volatile.Read(ref block->SnapshotMark)));

    /// <summary>What the file of a lost store says, if it is there and is of this log.</summary>
    public static unsafe LogPromise OfFile(StorePlatform platform, string storePath, ulong logId)
    {
        try
        {
            using StoreFile file = platform.OpenReadOnly(storePath);
            var super = default(Superblock);
            int read = file.Read(0, MemoryMarshal.AsBytes(new Span<Superblock>(ref super)));
            return read == sizeof(Superblock) && super.Magic == Superblock.ExpectedMagic && super.Log.LogId == logId ? Of(&super.Log) : default;
        }
        catch (Exception failure) when (failure is StoreException or FileNotFoundException or UnauthorizedAccessException)
        {
            return default; // The file says nothing: the log and the snapshot speak for themselves.
        }
    }
}
