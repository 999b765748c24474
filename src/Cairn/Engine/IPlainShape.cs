using Cairn.Segments;

namespace Cairn.Engine;

/// <summary>The properties other than key and value that all entries of a collection share on the fast paths.</summary>
internal unsafe interface IPlainShape
{
    uint Collection { get; }

    EntryFields Fields { get; }

    /// <summary>Gets the number of bytes between an entry's header and its key.</summary>
    int FieldsBytes { get; }

    /// <summary>Returns whether the optional fields of an entry that has <see cref="Fields"/> have the same contents as in every plain entry.</summary>
    bool HasFields(byte* entry);

    void StoreFields(byte* entry);

    uint Checksum(ulong word0, ulong version, uint valueSum, ulong keyHash);

    /// <summary>Returns whether a plain entry can replace another one by their sizes alone, without further checks.</summary>
    bool MayReplace(long oldBytes, long bytes);

    /// <summary>Gets when a written entry expires, in Unix milliseconds.</summary>
    long Deadline { get; }

    /// <summary>Returns the log for a new value of an entry in such a segment.</summary>
    int LogAfter(SegmentHeader* old, SegmentLog log, PartitionBlock* partition);
}

/// <summary>A shape that the fast reader knows in two forms: without and with a deadline.</summary>
internal unsafe interface IReadableShape : IPlainShape
{
    /// <summary>Gets the fields of an entry with a deadline.</summary>
    EntryFields ExpiringFields { get; }

    /// <summary>Gets the number of bytes between the header of an entry with a deadline and its key.</summary>
    int ExpiringFieldsBytes { get; }

    /// <summary>As <see cref="IPlainShape.HasFields"/>, for an entry with a deadline, whatever the deadline is.</summary>
    bool HasExpiringFields(byte* entry);

    /// <summary>Returns the part of the checksum that covers the fields of an entry with a deadline, if its flags are 0.</summary>
    ulong ExpiringFieldsHash(long deadline, ulong checksumSeed);
}

/// <summary>The shape of entries of the default collection: no optional fields.</summary>
internal readonly unsafe struct StoreShape : IReadableShape
{
    public uint Collection => 0;

    public EntryFields Fields => EntryFields.None;

    public int FieldsBytes => 0;

    public long Deadline => long.MaxValue;

    public EntryFields ExpiringFields => ExpiringShape.AllFields;

    public int ExpiringFieldsBytes => ExpiringShape.AllBytes;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool HasExpiringFields(byte* entry) => true;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong ExpiringFieldsHash(long deadline, ulong checksumSeed) => ExpiringShape.FieldsHash(deadline, checksumSeed);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool HasFields(byte* entry) => true;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void StoreFields(byte* entry)
    {
        // This shape has no optional fields.
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint Checksum(ulong word0, ulong version, uint valueSum, ulong keyHash) =>
        EntryView.ComputeChecksum(word0, version, null, 0, valueSum, keyHash, 0);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MayReplace(long oldBytes, long bytes) => true;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int LogAfter(SegmentHeader* old, SegmentLog log, PartitionBlock* partition) =>
        old->Log == PartitionBlock.LogMain ? PartitionBlock.LogMain : PartitionBlock.LogSmall;
}

/// <summary>The shape of entries of the default collection that expire: the flags, which are 0, and the deadline.</summary>
internal readonly unsafe struct ExpiringShape : IPlainShape
{
    public const EntryFields AllFields = EntryFields.Flags | EntryFields.Deadline;
    public const int AllBytes = sizeof(uint) + sizeof(long);

    private readonly ulong _checksumSeed;
    private readonly long _now;

    /// <summary>Creates the shape of one entry.</summary>
    /// <param name="deadline">When the entry expires, in Unix milliseconds, later than <paramref name="now"/>.</param>
    /// <param name="now">The present time.</param>
    /// <param name="checksumSeed">The store's checksum seed.</param>
    public ExpiringShape(long deadline, long now, ulong checksumSeed)
    {
        Deadline = deadline;
        _now = now;
        _checksumSeed = checksumSeed;
    }

    public uint Collection => 0;

    public EntryFields Fields => AllFields;

    public int FieldsBytes => AllBytes;

    public long Deadline { get; }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long DeadlineOf(byte* entry) => *(long*)(entry + EntryView.HeaderBytes + sizeof(uint));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint FlagsOf(byte* entry) => *(uint*)(entry + EntryView.HeaderBytes);

    /// <summary>Returns the part of the checksum that covers the fields, as <see cref="EntryView.FieldsHash"/>, without a copy of them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong FieldsHash(long deadline, ulong checksumSeed) =>
        KeyHash.ComputeUpTo16((ulong)deadline << 32, (ulong)deadline, AllBytes, checksumSeed);

    // An expired entry that is replaced is counted and reported, which only the slow path does.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool HasFields(byte* entry) => FlagsOf(entry) == 0 && DeadlineOf(entry) > _now;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void StoreFields(byte* entry)
    {
        *(uint*)(entry + EntryView.HeaderBytes) = 0;
        *(long*)(entry + EntryView.HeaderBytes + sizeof(uint)) = Deadline;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint Checksum(ulong word0, ulong version, uint valueSum, ulong keyHash) =>
        EntryView.ComputeChecksum(word0, version, FieldsHash(Deadline, _checksumSeed), valueSum, keyHash);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MayReplace(long oldBytes, long bytes) => true;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int LogAfter(SegmentHeader* old, SegmentLog log, PartitionBlock* partition) =>
        old->Log == PartitionBlock.LogMain ? PartitionBlock.LogMain : log.ChooseLog(partition, Deadline, _now);
}

/// <summary>The shape of entries of a named collection: the flags, which are 0, and the collection's number.</summary>
internal readonly unsafe struct CollectionShape : IReadableShape
{
    private readonly ulong _fieldsHash;
    private readonly uint _number;
    private readonly bool _isKept;

    /// <summary>Creates the shape of one collection's entries.</summary>
    /// <param name="number">The collection's number, not 0.</param>
    /// <param name="isKept">Whether its entries are kept.</param>
    /// <param name="checksumSeed">The store's checksum seed.</param>
    public CollectionShape(uint number, bool isKept, ulong checksumSeed)
    {
        _number = number;
        _isKept = isKept;
        byte* entry = stackalloc byte[EntryView.HeaderBytes + EntryView.MaxFieldsBytes];
        StoreFields(entry);
        _fieldsHash = EntryView.FieldsHash(Fields, entry, FieldsBytes, checksumSeed);
    }

    public uint Collection => _number;

    public bool IsKept => _isKept;

    public EntryFields Fields => EntryFields.Flags | EntryFields.Collection;

    public int FieldsBytes => sizeof(uint) + sizeof(ulong);

    public long Deadline => long.MaxValue;

    public EntryFields ExpiringFields => ExpiringCollectionShape.AllFields;

    public int ExpiringFieldsBytes => ExpiringCollectionShape.AllBytes;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool HasExpiringFields(byte* entry) => ExpiringCollectionShape.NumberOf(entry) == _number;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong ExpiringFieldsHash(long deadline, ulong checksumSeed) => ExpiringCollectionShape.FieldsHash(deadline, _number, checksumSeed);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool HasFields(byte* entry) =>
        *(uint*)(entry + EntryView.HeaderBytes) == 0 && *(ulong*)(entry + EntryView.HeaderBytes + sizeof(uint)) == _number;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void StoreFields(byte* entry)
    {
        *(uint*)(entry + EntryView.HeaderBytes) = 0;
        *(ulong*)(entry + EntryView.HeaderBytes + sizeof(uint)) = _number;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint Checksum(ulong word0, ulong version, uint valueSum, ulong keyHash) =>
        EntryView.ComputeChecksum(word0, version, _fieldsHash, valueSum, keyHash);

    // A longer value can exceed the budget of a kept collection, which only the slow path checks. Other budgets are enforced by eviction.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MayReplace(long oldBytes, long bytes) => !_isKept || bytes <= oldBytes;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int LogAfter(SegmentHeader* old, SegmentLog log, PartitionBlock* partition) =>
        _isKept ? PartitionBlock.LogKeep : old->Log == PartitionBlock.LogMain ? PartitionBlock.LogMain : PartitionBlock.LogSmall;
}

/// <summary>The shape of entries of a named collection that expire: the flags, which are 0, the deadline, and the collection's number.</summary>
internal readonly unsafe struct ExpiringCollectionShape : IPlainShape
{
    public const EntryFields AllFields = EntryFields.Flags | EntryFields.Deadline | EntryFields.Collection;
    public const int AllBytes = sizeof(uint) + sizeof(long) + sizeof(ulong);

    private readonly CollectionShape _other;
    private readonly ulong _checksumSeed;
    private readonly long _now;

    /// <summary>Creates the shape of one entry.</summary>
    /// <param name="other">The shape of the collection's entries without a deadline.</param>
    /// <param name="deadline">When the entry expires, in Unix milliseconds, later than <paramref name="now"/>.</param>
    /// <param name="now">The present time.</param>
    /// <param name="checksumSeed">The store's checksum seed.</param>
    public ExpiringCollectionShape(in CollectionShape other, long deadline, long now, ulong checksumSeed)
    {
        _other = other;
        Deadline = deadline;
        _now = now;
        _checksumSeed = checksumSeed;
    }

    public uint Collection => _other.Collection;

    public EntryFields Fields => AllFields;

    public int FieldsBytes => AllBytes;

    public long Deadline { get; }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong NumberOf(byte* entry) => *(ulong*)(entry + EntryView.HeaderBytes + ExpiringShape.AllBytes);

    /// <summary>Returns the part of the checksum that covers the fields, as <see cref="EntryView.FieldsHash"/>, without a copy of them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong FieldsHash(long deadline, ulong number, ulong checksumSeed) => KeyHash.Compute16To32(
        (ulong)deadline << 32, ((ulong)deadline >> 32) | (number << 32), (ulong)deadline, number, AllBytes, checksumSeed);

    // As in ExpiringShape.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool HasFields(byte* entry) =>
        ExpiringShape.FlagsOf(entry) == 0 && ExpiringShape.DeadlineOf(entry) > _now && NumberOf(entry) == Collection;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void StoreFields(byte* entry)
    {
        *(uint*)(entry + EntryView.HeaderBytes) = 0;
        *(long*)(entry + EntryView.HeaderBytes + sizeof(uint)) = Deadline;
        *(ulong*)(entry + EntryView.HeaderBytes + ExpiringShape.AllBytes) = Collection;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint Checksum(ulong word0, ulong version, uint valueSum, ulong keyHash) =>
        EntryView.ComputeChecksum(word0, version, FieldsHash(Deadline, Collection, _checksumSeed), valueSum, keyHash);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MayReplace(long oldBytes, long bytes) => _other.MayReplace(oldBytes, bytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int LogAfter(SegmentHeader* old, SegmentLog log, PartitionBlock* partition) =>
        _other.IsKept ? PartitionBlock.LogKeep
        : old->Log == PartitionBlock.LogMain ? PartitionBlock.LogMain
        : log.ChooseLog(partition, Deadline, _now);
}
