using Cairn.Encryption;
using Cairn.WriteAhead;

namespace Cairn.Storage;

// The first page of a store: the identity of the file, its layout, and whether its content can be trusted.
//
//   Creating --initialised--> InUse(boot id) --last closer, everything on disk--> Closed
//                               ^                                                    |
//                               +------------- opened, recorded on disk -------------+
//
//   I1  Bytes 0..87 never change after creation, except when the store is emptied. LayoutCheck covers them.
//   I2  State is Closed on disk only if every page of the file reached the disk first. It leaves Closed on disk before any page changes, except for the
//       log's block in this page. So after a restart of the machine, Closed means complete and InUse means unknown.
[StructLayout(LayoutKind.Explicit, Size = StoreLayout.SuperblockBytes)]
internal unsafe struct Superblock
{
    /// <summary>"CAIRNST\n" read as a little-endian number. A text-mode transfer that changes the line end damages it.</summary>
    public const ulong ExpectedMagic = 0x0A54_534E_5249_4143;

    /// <summary>Raised when a reader of the earlier format would misread the file.</summary>
    public const uint CurrentVersion = 1;

    public const uint StateInUse = 1;
    public const uint StateClosed = 2;
    public const uint StateResetting = 3;
    public const int BootIdBytes = 40;

    /// <summary>Keys and values are encrypted. The store's key is in <see cref="FirstKey"/> or <see cref="SecondKey"/>.</summary>
    public const uint FeatureEncryption = 1;

    public const uint KnownFeatures = FeatureEncryption;

    /// <summary>The number that is added to <see cref="FreeWord"/> when a segment becomes free. When a segment is taken, 1 is subtracted.</summary>
    public const long OneFreed = (1L << 32) + 1;

    [FieldOffset(0)] public ulong Magic;
    [FieldOffset(8)] public uint FormatVersion;

    /// <summary>The features that a reader must know to open the file. If one is not in <see cref="KnownFeatures"/>, the opening is refused.</summary>
    [FieldOffset(12)] public uint RequiredFeatures;
    [FieldOffset(16)] public long MaxCapacityBytes;
    [FieldOffset(24)] public int AverageEntryBytes;
    [FieldOffset(28)] public int SegmentBytes;
    [FieldOffset(32)] public int PartitionCount;
    [FieldOffset(36)] public int MaxSegments;
    [FieldOffset(40)] public ulong HashSeed;
    [FieldOffset(48)] public ulong StoreId;
    [FieldOffset(56)] public long CreatedUnixMs;

    // Bytes 64..87 are reserved.
    [FieldOffset(88)] public ulong LayoutCheck;

    [FieldOffset(128)] public uint State;
    [FieldOffset(132)] public fixed byte BootId[BootIdBytes];

    /// <summary>The number of times that the file was opened while no other process had it open.</summary>
    [FieldOffset(176)] public ulong OpenCount;

    /// <summary>The checksum of the partition blocks and segment headers, computed when the last process closed the file.</summary>
    [FieldOffset(184)] public ulong ClosedCheck;

    /// <summary>
    /// The value of <see cref="OpenCount"/> at the last opening by a version that maintains the deadlines of segments. If it differs, an older version has
    /// opened the file since then.
    /// </summary>
    [FieldOffset(192)] public ulong DeadlinesKeptSince;

    /// <summary>1 after a flush of the file has failed in this start of the machine: pages that look written can be missing on the disk.</summary>
    [FieldOffset(200)] public uint HasUnwrittenPages;

    // These fields change while the store is used. Each has a cache line of its own, because every process writes it.
    [FieldOffset(256)] public int SegmentCount;

    /// <summary>
    /// The low half is the number of free segments (<see cref="FreeSegments"/>). The high half is raised each time a segment becomes free.
    /// </summary>
    [FieldOffset(320)] public long FreeWord;
    [FieldOffset(328)] public int FreeHint;
    [FieldOffset(384)] public int CollectionCount;

    /// <summary>1 after a kept entry was put into an overflow bucket. Then a reader that finds no entry also searches the overflow buckets.</summary>
    [FieldOffset(448)] public int HasOverflow;

    /// <summary>The highest owner slot used since a process opened the store alone. It limits the search for pins.</summary>
    [FieldOffset(512)] public int OwnerHighWater;

    /// <summary>1 after a client chose the version of an entry. Then a comparison of versions looks for such an entry.</summary>
    [FieldOffset(576)] public int HasChosenVersions;

    [FieldOffset(1024)] public LogBlock Log;

    // Each key block has a sector of its own, so that a write of one does not affect the other.
    [FieldOffset(2048)] public KeyBlock FirstKey;
    [FieldOffset(2560)] public KeyBlock SecondKey;

    public static int FreeSegments(Superblock* super) => (int)Volatile.Read(ref super->FreeWord);
}
