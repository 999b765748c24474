using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;

namespace Cairn.Engine;

// Imports an entry of another file with its rank: its log and its frequency of use. Only for a store that no other process has
// open.
internal sealed unsafe partial class StoreEngine
{
    public WriteStatus Import(in KeyRef key, in EntryContent content, bool isMain, int frequency)
    {
        long bytes = content.PaddedBytes(key);
        if (content.ChosenVersion != 0)
        {
            Memory.RaiseChosenVersions();
        }

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
            WriteOperation.Begin(out WriteOperation write, key, WriteCondition.Always, expectedVersion: 0);
            write.Partition = partition;
            write.Bytes = bytes;
            write.Log = PartitionBlock.LogMain;
            while ((write.Target = _log.TryReserve(partition, write.Log, bytes)) is null)
            {
                if (!OpenSegment(partition, key.Place.Partition, write.Log, bytes))
                {
                    Leave(partition);
                    return WriteStatus.NoRoom;
                }
            }

            Find(ref write);
            WriteStatus status = TryPublishLocked(ref write, content);
            Leave(partition);
            return status == NoSlot ? WriteStatus.NoRoom : WriteStatus.Stored;
        }
        catch
        {
            LeaveBroken(partition, key.Place.Partition);
            throw;
        }
    }
}
