using Cairn.Engine;
using Cairn.Eviction;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Segments;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// Deliberately broken twins of the routines in which a lock holder treats an old value (SegmentEvictor.TryMove and TryDrop, StoreEngine.Append). They
/// use a plain store where another thread may have cleared the slot. Also a twin of StoreEngine.Kill.
/// </summary>
internal static unsafe class BrokenHolders
{
    /// <summary>Moves the key's entry to the end of the log, as eviction does with survivors.</summary>
    public static void Move(StoreEngine engine, in KeyRef key, bool isPlain)
    {
        PartitionBlock* partition = engine.Enter(key.Place.Partition);
        if (HashIndex.FindLocked(engine.Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old))
        {
            long bytes = old.Entry.PaddedBytes;
            byte* target = Reserve(engine, partition, bytes, out SegmentLog log);
            Buffer.MemoryCopy(old.Entry.Start, target, bytes, bytes);
            ProtocolHook.Reach(ProtocolStep.SurvivorCopied);
            log.Commit(partition, PartitionBlock.LogSmall, target, bytes, long.MaxValue, long.MaxValue);
            TryReplace(old, Bucket.Pack(key.Place.Tag, old.Entry.Version, engine.Memory.OffsetOf(target)), isPlain);
        }

        engine.Leave(partition);
    }

    /// <summary>Writes the key's value with another one appended.</summary>
    public static WriteStatus Append(StoreEngine engine, in KeyRef key, ReadOnlySpan<byte> addition, bool isPlain)
    {
        PartitionBlock* partition = engine.Enter(key.Place.Partition);
        bool isWritten = HashIndex.FindLocked(engine.Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old)
            && TryWrite(
                engine, partition, key, old, new ReadOnlySpan<byte>(old.Entry.Value, (int)old.Entry.ValueLength), addition, isPlain);
        engine.Leave(partition);
        return isWritten ? WriteStatus.Stored : WriteStatus.NotFound;
    }

    /// <summary>Writes an entry in the place of an old one, while holding the lock.</summary>
    public static bool TryWrite(
        StoreEngine engine, PartitionBlock* partition, in KeyRef key, in Located old, ReadOnlySpan<byte> first, ReadOnlySpan<byte> second,
        bool isPlain)
    {
        var content = new EntryContent
        {
            Type = EntryType.Value,
            Expiration = ResolvedExpiration.Never,
            First = first,
            Second = second,
        };
        long bytes = content.PaddedBytes(key);
        byte* target = Reserve(engine, partition, bytes, out SegmentLog log);
        ulong version = ++partition->Version;
        Assert.True(content.TryWrite(target, key, version, engine.Memory.ChecksumSeed));
        ProtocolHook.Reach(ProtocolStep.EntryCopied);
        log.Commit(partition, PartitionBlock.LogSmall, target, bytes, long.MaxValue, long.MaxValue);
        return TryReplace(old, Bucket.Pack(key.Place.Tag, version, engine.Memory.OffsetOf(target)), isPlain);
    }

    /// <summary>
    /// Removes the key's entry. Returns true if it believes that this call removed it. If the entry was a lease, callers that wait for it are
    /// not woken.
    /// </summary>
    public static bool Remove(StoreEngine engine, in KeyRef key, bool isPlain)
    {
        PartitionBlock* partition = engine.Enter(key.Place.Partition);
        bool isRemoved = HashIndex.FindLocked(engine.Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old)
            && TryReplace(old, 0, isPlain);
        engine.Leave(partition);
        return isRemoved;
    }

    /// <summary>Retracts the key's value without the lock. If another thread moves the value meanwhile, it does not search for it again.</summary>
    public static void KillOnce(StoreEngine engine, in KeyRef key)
    {
        if (HashIndex.Find(engine.Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located)
            && HashIndex.Validate(located))
        {
            ProtocolHook.Reach(ProtocolStep.KillValidated);
            Interlocked.CompareExchange(ref *Bucket.SlotAt(located.Bucket, located.SlotIndex), 0, located.Slot);
        }
    }

    private static byte* Reserve(StoreEngine engine, PartitionBlock* partition, long bytes, out SegmentLog log)
    {
        log = new SegmentLog(engine.Memory, engine.Pool);
        byte* target = log.TryReserve(partition, PartitionBlock.LogSmall, bytes);
        Assert.True(target is not null, "The log has no room.");
        return target;
    }

    private static bool TryReplace(in Located old, ulong slot, bool isPlain)
    {
        if (!isPlain)
        {
            return Bucket.TryReplace(old.Bucket, old.SlotIndex, old.Slot, slot);
        }

        Bucket.Store(old.Bucket, old.SlotIndex, slot);
        return true;
    }
}
