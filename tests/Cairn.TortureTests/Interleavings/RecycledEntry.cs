using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>The step that a broken recycling leaves out.</summary>
internal enum RecyclingDefect
{
    None,

    /// <summary>It overwrites the bytes while the slot still names them.</summary>
    OverwritesWhatTheSlotNames,

    /// <summary>It checks for pins before it clears the slot, but not afterwards.</summary>
    LooksForPinsTooEarly,

    /// <summary>It does not check for pins.</summary>
    LooksForNoPins,
}

/// <summary>
/// A key whose entry is recycled in place. Its slot is cleared, the next value overwrites its bytes in two parts, and the same slot names them again.
/// Eviction does this to a segment over a long time. Here it takes a few steps and has the worst outcome: offset and stamp repeat.
/// </summary>
internal sealed unsafe class RecycledEntry
{
    private const int ValueBytes = 64;
    private const int StampPeriod = 16;
    private const uint Flags = 7;
    private const byte FirstOfOthers = 200;

    private readonly Stage _stage;
    private readonly StoreEngine _engine;
    private readonly uint _flags;
    private readonly bool _isForOther;

    /// <summary>Sets the entry. That state is the stage's beginning.</summary>
    /// <param name="stage">The stage.</param>
    /// <param name="hasFlags">Whether the entry has optional fields, so that the slow path reads it.</param>
    /// <param name="isForOther">Whether the entry's place is recycled for another key, which has the same tag.</param>
    public RecycledEntry(Stage stage, bool hasFlags = false, bool isForOther = false)
    {
        _isForOther = isForOther;
        _stage = stage;
        _engine = stage.Store.Engine;
        _flags = hasFlags ? Flags : 0;
        stage.Store.DefaultCollection.Set(Key, Value(1), flags: _flags);
        stage.Keep();
    }

    public CairnStore Store => _stage.Store;

    /// <summary>Gets the key, pinned in memory.</summary>
    public byte[] Key { get; } = Stage.PinnedKey("recycled");

    public KeyRef Ref => Stage.RefOf(Store, Key);

    private byte[] OtherKey { get; } = Stage.PinnedKey("replaced");

    /// <summary>Returns whether a reader may return this value. The value must be one that was written for the key, and not a mixture.</summary>
    public static bool IsRight(ReadOnlySpan<byte> value) =>
        value.Length == ValueBytes && value[0] is > 0 and < FirstOfOthers && value.IndexOfAnyExcept(value[0]) < 0;

    /// <summary>Recycles the entry unless it is pinned.</summary>
    public void Recycle(RecyclingDefect defect = RecyclingDefect.None)
    {
        KeyRef key = Ref;
        PartitionBlock* partition = _engine.Enter(key.Place.Partition);
        Assert.True(HashIndex.FindLocked(_engine.Memory, key.Place, key.Bytes, key.Length, 0, out Located located));
        int segment = _engine.Memory.SegmentOf(located.Slot);
        bool isPinned = defect == RecyclingDefect.LooksForPinsTooEarly && IsPinned(segment);
        Schedule.Step();
        if (!isPinned)
        {
            if (defect != RecyclingDefect.OverwritesWhatTheSlotNames)
            {
                Bucket.Store(located.Bucket, located.SlotIndex, 0);
            }

            Interlocked.MemoryBarrier();
            isPinned = defect is not (RecyclingDefect.LooksForPinsTooEarly or RecyclingDefect.LooksForNoPins) && IsPinned(segment);
            Schedule.Step();
            if (!isPinned)
            {
                Overwrite(partition, located);
            }

            Bucket.Store(located.Bucket, located.SlotIndex, located.Slot);
        }

        _engine.Leave(partition);
    }

    private static byte[] Value(byte content)
    {
        var value = new byte[ValueBytes];
        value.AsSpan().Fill(content);
        return value;
    }

    private bool IsPinned(int segment) => _engine.Owners.FindPinOwner(segment, 1) != 0;

    private void Overwrite(PartitionBlock* partition, in Located located)
    {
        int bytes = (int)located.Entry.PaddedBytes;
        byte* next = stackalloc byte[bytes];
        var content = new EntryContent
        {
            Type = EntryType.Value,
            Flags = _flags,
            Expiration = ResolvedExpiration.Never,
            First = Value(_isForOther ? FirstOfOthers : (byte)(*located.Entry.Value + 1)),
        };
        ulong version = located.Entry.Version + StampPeriod;
        Assert.True(content.TryWrite(next, Stage.RefOf(Store, _isForOther ? OtherKey : Key), version, _engine.Memory.ChecksumSeed));
        partition->Version = Math.Max(partition->Version, version);
        int half = bytes - (ValueBytes / 2);
        Buffer.MemoryCopy(next, located.Entry.Start, half, half);
        Schedule.Step();
        Buffer.MemoryCopy(next + half, located.Entry.Start + half, bytes - half, bytes - half);
        Schedule.Step();
    }
}
