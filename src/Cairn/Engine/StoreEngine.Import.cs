using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.Engine;

// Imports an entry of another file with its rank: its log and its frequency of use. Only for a store that no other process has
// open.
internal sealed unsafe partial class StoreEngine
{
    public WriteStatus Import(in KeyRef key, in EntryContent content, bool isMain, int frequency)
    {
        long bytes = content.PaddedBytes(key);
        WriteStatus status = IsLong(bytes) || !isMain || Memory.IsKept(key.Collection)
            ? Write(key, content, WriteCondition.Always, 0, out _)
            : WriteToMain(key, content, bytes);
        if (status == WriteStatus.Stored
            && HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located))
        {
            Bucket.SetFrequency(located.Bucket, located.SlotIndex, Math.Clamp(frequency, 0, Bucket.MaxFrequency));
        }

        GC.KeepAlive(this);
        return status;
    }

    private WriteStatus WriteToMain(in KeyRef key, in EntryContent content, long bytes)
    {
        PartitionBlock* partition = Enter(key.Place.Partition);
        if (partition is null)
        {
            return WriteStatus.Busy;
        }

        try
        {
            byte* target;
            while ((target = _log.TryReserve(partition, PartitionBlock.LogMain, bytes)) is null)
            {
                if (!OpenSegment(partition, key.Place.Partition, PartitionBlock.LogMain, bytes))
                {
                    Leave(partition);
                    return WriteStatus.NoRoom;
                }
            }

            bool isFound = HashIndex.FindLocked(Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old);
            PublishOutcome outcome = TryPublishLocked(
                partition, key, content, bytes, isFound, old, restsOnOld: false, PartitionBlock.LogMain, target, out _);
            Leave(partition);
            return outcome == PublishOutcome.NoSlot ? WriteStatus.NoRoom : WriteStatus.Stored;
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }
    }
}
