namespace Cairn.Storage;

// The state of one partition: a part of the index, with its segments, lock, clock and statistics. Fields are grouped by their writers. Each group has one
// or more cache lines of its own, so that writes do not disturb polling readers.
//
//   I1  Only the holder of the lock writes this block. Exceptions: the lock word, Overrun, LeaseSignal, and the counters DepartedHits, DepartedMisses,
//       Dropped, LockWaits and Corrupt.
//   I2  Version only grows. An entry's version is the partition's version at the time of its publication.
//   I3  Watermark[c] is at most Version, and its complement is stored beside it. If the pair does not agree, it is damaged, and everything in the
//       collection counts as cleared.
//   I4  Tail[log] is stored before any slot leads to bytes below it.
//   I5  Queues, counters and the eviction cursor can be rebuilt from segment headers and the index (PartitionRecovery).
[StructLayout(LayoutKind.Explicit, Size = RingOffset)]
internal unsafe struct PartitionBlock
{
    public const uint ExpectedMagic = 0x5041_5254;

    /// <summary>
    /// The highest valid version. A higher one is the result of damage: versions begin at 2^63 at the latest (StoreFormatter.FirstVersion) and grow by one
    /// with each write.
    /// </summary>
    public const ulong HighestVersion = 3UL << 62;

    public const int LogSmall = 0;
    public const int LogMain = 1;
    public const int FirstTtlLog = 2;
    public const int TtlLogs = 8;
    public const int LogKeep = FirstTtlLog + TtlLogs;
    public const int LogCount = LogKeep + 1;

    public const int WatermarksOffset = 512;
    public const int CollectionCountersOffset = WatermarksOffset + (StoreLayout.MaxCollections * 16);
    public const int RingOffset = CollectionCountersOffset + (StoreLayout.MaxCollections * 16);

    // Written by threads that take the lock or wait for it.
    [FieldOffset(0)] public uint Magic;
    [FieldOffset(4)] public uint LockWord;

    // Other processes poll these fields to find out what has changed.
    [FieldOffset(64)] public ulong RingPosition;
    [FieldOffset(72)] public uint Overrun;
    [FieldOffset(76)] public uint LeaseSignal;

    /// <summary>More hints of the eviction policy (RecencyBalance). They are here because no other group has room, and change less often than RingPosition.</summary>
    [FieldOffset(80)] public int RecencyBalance;
    [FieldOffset(84)] public byte FollowsRecency;

    // Written by the holder of the lock.
    [FieldOffset(128)] public ulong Version;
    [FieldOffset(136)] public ulong SealSequence;
    [FieldOffset(144)] public int SegmentCount;
    [FieldOffset(148)] public int SpareHead;
    [FieldOffset(152)] public int SpareCount;
    [FieldOffset(156)] public int SmallHead;
    [FieldOffset(160)] public int SmallTail;
    [FieldOffset(164)] public int SmallCount;
    [FieldOffset(168)] public int MainHead;
    [FieldOffset(172)] public int MainTail;
    [FieldOffset(176)] public int MainCount;
    [FieldOffset(180)] public int Victim;
    [FieldOffset(184)] public int VictimCursor;
    [FieldOffset(188)] public int VictimSurvivorBytes;
    [FieldOffset(192)] public uint VictimMode;
    [FieldOffset(196)] public int RetiredHead;
    [FieldOffset(200)] public int OpenCount;
    [FieldOffset(208)] public long EvictionCredit;
    [FieldOffset(216)] public int KeepHead;
    [FieldOffset(220)] public int KeepTail;
    [FieldOffset(224)] public int KeepCount;

    /// <summary>Hints of the eviction policy; any values are valid (SegmentedFifoPolicy).</summary>
    [FieldOffset(228)] public short AdmissionShortage;
    [FieldOffset(230)] public byte IsMainInUse;
    [FieldOffset(231)] public byte SmallGrowth;
    [FieldOffset(204)] public ushort UsedOfSmall;
    [FieldOffset(206)] public short UsedOfMain;

    /// <summary>The position of the log record that is being published. 0 for none.</summary>
    [FieldOffset(232)] public long PendingRecord;

    // Statistics that were added later, written under the lock. They count the values among Reclaimed and Evictions that were not read after they were
    // written.
    [FieldOffset(240)] public long ExpiredUnread;
    [FieldOffset(248)] public long EvictedUnread;
    [FieldOffset(256)] public fixed int ActiveSegment[LogCount];
    [FieldOffset(300)] public fixed int ActiveTail[LogCount];

    /// <summary>
    /// The segment that is being swept, as its number + 1; 0 for none. The next fields are the progress of the sweep and the earliest deadline seen so far.
    /// </summary>
    [FieldOffset(344)] public int Sweep;
    [FieldOffset(348)] public int SweepCursor;
    [FieldOffset(352)] public long SweepEarliest;

    /// <summary>The sum of the segments' <see cref="SegmentHeader.ExpiredBytes"/>.</summary>
    [FieldOffset(360)] public long ExpiredBytes;

    /// <summary>Before this moment, no sealed segment that can be evicted has expired completely. 0 if it is not known.</summary>
    [FieldOffset(368)] public long MinWholeDeadline;

    /// <summary>The number of entries of the default collection whose only expiration is sliding.</summary>
    [FieldOffset(376)] public long OwnSliding;

    // Statistics, written under the lock. Exception: the cleanup of an owner adds to DepartedHits and DepartedMisses atomically.
    [FieldOffset(384)] public long Entries;
    [FieldOffset(392)] public long LiveBytes;
    [FieldOffset(400)] public long Sets;
    [FieldOffset(408)] public long Removals;
    [FieldOffset(416)] public long Evictions;
    [FieldOffset(424)] public long Expirations;
    [FieldOffset(432)] public long Displacements;
    [FieldOffset(440)] public long Declined;
    [FieldOffset(448)] public long Recoveries;
    [FieldOffset(456)] public long DepartedHits;
    [FieldOffset(464)] public long DepartedMisses;
    [FieldOffset(472)] public long GhostHits;

    // Operations that could not acquire the lock write these counters without it, atomically.
    [FieldOffset(480)] public long Dropped;
    [FieldOffset(488)] public long LockWaits;
    [FieldOffset(496)] public long Corrupt;

    /// <summary>
    /// The number of Expirations without the entries that a read or a removal of their key retracted. Written under the lock.
    /// </summary>
    [FieldOffset(504)] public long Reclaimed;

    /// <summary>Returns the watermark of a collection and its complement (I3).</summary>
    public static ulong* Watermark(PartitionBlock* partition, uint collection) =>
        (ulong*)((byte*)partition + WatermarksOffset) + (2 * collection);

    /// <summary>
    /// Returns the two counters of a collection within this partition: entries and live bytes. The default collection needs other counters, because its
    /// entries and bytes are the rest of the partition's. Its pair is the number of entries that expire at a fixed moment, and the sum of those moments,
    /// which wraps around.
    /// </summary>
    public static long* CollectionCounters(PartitionBlock* partition, uint collection) =>
        (long*)((byte*)partition + CollectionCountersOffset) + (2 * collection);

    /// <summary>Returns the queue of a log's sealed segments: head, tail and count, side by side.</summary>
    public static int* Queue(PartitionBlock* partition, int log) => log switch
    {
        LogMain => &partition->MainHead,
        LogKeep => &partition->KeepHead,
        _ => &partition->SmallHead,
    };

    /// <summary>Returns whether the partition has segments of kept entries. Then it needs a spare segment to clean them.</summary>
    public static bool HasKept(PartitionBlock* partition) => (partition->KeepHead | partition->ActiveSegment[LogKeep]) != 0;

    public static ulong* Ring(PartitionBlock* partition) => (ulong*)((byte*)partition + RingOffset);
}
