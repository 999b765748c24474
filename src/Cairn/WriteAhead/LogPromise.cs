using Cairn.Platform;

namespace Cairn.WriteAhead;

/// <summary>
/// The promise in a store's file: the minimum that the log beside the store must contain, whatever its end looks like. A number is 0 if the file promises
/// nothing.
/// </summary>
/// <param name="Durable">Every record below this position was durable.</param>
/// <param name="Sequence">The piece with this number existed and was durable.</param>
/// <param name="SnapshotStart">A snapshot existed that the log completes from this position on, or from a later one.</param>
internal readonly record struct LogPromise(long Durable, long Sequence, long SnapshotStart)
{
    public static unsafe LogPromise Of(LogBlock* block) => new(
        LogMark.PositionOf(Volatile.Read(ref block->DurableMark)),
        LogMark.NumberOf(Volatile.Read(ref block->PieceMark)),
        LogMark.PositionOf(Volatile.Read(ref block->SnapshotMark)));

    /// <summary>Returns the promise in the file of a lost store, if the file exists and belongs to this log.</summary>
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
            return default; // The file promises nothing. The log and the snapshot are judged without it.
        }
    }
}
