using System.Runtime.InteropServices;
using Cairn.Encryption;
using Cairn.WriteAhead;

namespace Cairn.Storage;

// The first page of a store: what the file is, how it is laid out, and whether what it holds can be trusted.
//
//   Creating --initialised--> InUse(boot id) --last closer, everything on disk--> Closed
//                               ^                                                    |
//                               +------------- opened, recorded on disk -------------+
//
//   I1  Bytes 0..87 never change after creation, but when the store is emptied, and are covered by LayoutCheck.
//   I2  State is Closed on disk only if every page of the file reached the disk first, and leaves Closed on disk before
//       any page changes, but for the log's block in this one. So after a restart of the machine, Closed means complete and InUse means
//       unknown.
[StructLayout(LayoutKind.Explicit, Size = StoreLayout.SuperblockBytes)]
internal unsafe struct Superblock
{
    /// <summary>"CAIRNST\n" read as a little-endian number: a text-mode transfer that changes the line end breaks it.</summary>
    public const ulong ExpectedMagic = 0x0A54_534E_5249_4143;

    /// <summary>Raised when a reader of the earlier format would misread the file.</summary>
    public const uint CurrentVersion = 1;

    public const uint StateInUse = 1;
    public const uint StateClosed = 2;
    public const uint StateResetting = 3;
    public const int BootIdBytes = 40;

    /// <summary>Keys and values are encrypted; the store's key is in <see cref="FirstKey"/> or <see cref="SecondKey"/>.</summary>
    public const uint FeatureEncryption = 1;

    public const uint KnownFeatures = FeatureEncryption;

    /// <summary>What is added to <see cref="FreeWord"/> when a segment becomes free; 1 is subtracted when one is taken.</summary>
    public const long OneFreed = (1L << 32) + 1;

    [FieldOffset(0)] public ulong Magic;
    [FieldOffset(8)] public uint FormatVersion;

    /// <summary>Features a reader must know to open the file: of <see cref="KnownFeatures"/>, or it is refused.</summary>
    [FieldOffset(12)] public uint RequiredFeatures;
    [FieldOffset(16)] public long MaxCapacityBytes;
    [FieldOffset(24)] public int AverageEntryBytes;
    [FieldOffset(28)] public int SegmentBytes;
    [FieldOffset(32)] public int PartitionCount;
    [FieldOffset(36)] public int MaxSegments;
    [FieldOffset(40)] public ulong HashSeed;
    [FieldOffset(48)] public ulong StoreId;
    [FieldOffset(56)] public long CreatedUnixMs;

    // 64..87 reserved.
    [FieldOffset(88)] public ulong LayoutCheck;

    [FieldOffset(128)] public uint State;
    [FieldOffset(132)] public fixed byte BootId[BootIdBytes];

    /// <summary>Raised each time nobody had the file open and somebody opened it.</summary>
    [FieldOffset(176)] public ulong OpenCount;

    /// <summary>Checksum over the partition blocks and segment headers, taken when the last process closed the file.</summary>
    [FieldOffset(184)] public ulong ClosedCheck;

    /// <summary>
    /// <see cref="OpenCount"/> when it was raised last by a version that keeps the deadlines of segments. Another number says that an older
    /// one has had the file since.
    /// </summary>
    [FieldOffset(192)] public ulong DeadlinesKeptSince;

    // Changed while the store is used: each on a cache line of its own, because every process writes it.
    [FieldOffset(256)] public int SegmentCount;

    /// <summary>Low half: how many segments are free (<see cref="FreeSegments"/>). High half: raised each time one becomes free.</summary>
    [FieldOffset(320)] public long FreeWord;
    [FieldOffset(328)] public int FreeHint;
    [FieldOffset(384)] public int CollectionCount;

    /// <summary>1 once a kept entry was put into an overflow bucket: readers that miss look there.</summary>
    [FieldOffset(448)] public int HasOverflow;

    /// <summary>The highest owner slot used since the store was opened by one alone: how far a search for pins must look.</summary>
    [FieldOffset(512)] public int OwnerHighWater;

    [FieldOffset(1024)] public LogBlock Log;

    // Each in a sector of its own: writing one leaves the other as it is.
    [FieldOffset(2048)] public KeyBlock FirstKey;
    [FieldOffset(2560)] public KeyBlock SecondKey;

    public static int FreeSegments(Superblock* super) => (int)Volatile.Read(ref super->FreeWord);
}
