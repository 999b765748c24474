namespace Cairn.Storage;

/// <summary>The use of a segment. It is the low byte of the state word.</summary>
internal enum SegmentState : byte
{
    Free = 0,
    Spare = 1,
    Open = 2,
    Sealed = 3,
    Retired = 4,
    Reserved = 5,
    RunBody = 6,
}

// A segment is a fixed-size, append-only region of the file. It belongs to one partition and has one writer at a time, the holder of that partition's lock.
//   0                                    Tail                     SegmentBytes
//   | complete entries and gaps          | being written or free  |
//
//   I1  Tail only grows until the segment is recycled.
//   I2  Published bytes below Tail never change until the segment is recycled, except for the deadline of a sliding entry.
//   I3  A segment is recycled only when every slot that led to it has been cleared and no pin names it.
//
//   Free --TakeFree--> Spare --Open--> Open --Seal--> Sealed --evicted, unpinned--> Spare or Free
//     |                                                 |---- evicted, pinned -----> Retired --unpinned--> Spare
//     +--- reserved by a process for a large value ---> Reserved --published--> Sealed head + RunBody ...
//
// The state word is changed by compare-and-swap if several processes can want the segment (Free, Reserved). Otherwise the lock's holder changes it. It
// names the owner, so that the segments of a dead process can be found.
[StructLayout(LayoutKind.Explicit, Size = StoreLayout.SegmentHeaderBytes)]
internal struct SegmentHeader
{
    /// <summary>State 8 | log 8 | partition 8 | owner slot 8 (only while Reserved).</summary>
    [FieldOffset(0)] public uint StateWord;
    [FieldOffset(4)] public int Tail;

    /// <summary>The partition's seal sequence when the segment was sealed. It is the order of eviction.</summary>
    [FieldOffset(8)] public ulong SealOrder;

    /// <summary>The latest deadline of any entry, Unix milliseconds. <see cref="long.MaxValue"/> if an entry has none.</summary>
    [FieldOffset(16)] public long MaxDeadline;

    /// <summary>The size in bytes of the entries to which a slot still leads.</summary>
    [FieldOffset(24)] public int LiveBytes;

    /// <summary>The number of segments in the run that starts here. 1 for an ordinary segment.</summary>
    [FieldOffset(28)] public int RunLength;

    // The neighbors in the partition's queue, as segment number + 1; 0 for none.
    [FieldOffset(32)] public int Next;
    [FieldOffset(36)] public int Previous;

    /// <summary>
    /// No entry can be removed before this moment, Unix milliseconds. <see cref="long.MaxValue"/> if none can ever be removed, 0 if it is not known.
    /// </summary>
    [FieldOffset(40)] public long MinDeadline;

    /// <summary>The beginning of the last sweep of the segment, Unix seconds. 0 if it was never swept.</summary>
    [FieldOffset(48)] public uint SweptAtSeconds;

    /// <summary>The size in bytes of the expired entries that were removed and whose room is not free yet.</summary>
    [FieldOffset(52)] public int ExpiredBytes;

    /// <summary>A hint of the eviction policy (RecencyBalance): one more than the uses that a sample of the entries had, or 0. Any value is valid.</summary>
    [FieldOffset(56)] public ushort SampledUses;

    public readonly SegmentState State => StateOf(StateWord);

    public readonly int Log => (byte)(StateWord >> 8);

    public readonly int Partition => PartitionOf(StateWord);

    public readonly int Owner => (byte)(StateWord >> 24);

    // For readers of the word of a segment that other processes can take: read the word once, then use these methods.
    public static SegmentState StateOf(uint word) => (SegmentState)(byte)word;

    public static int LogOf(uint word) => (byte)(word >> 8);

    public static int PartitionOf(uint word) => (byte)(word >> 16);

    public static uint Word(SegmentState state, int log, int partition, int owner = 0) =>
        (uint)state | ((uint)log << 8) | ((uint)partition << 16) | ((uint)owner << 24);
}
