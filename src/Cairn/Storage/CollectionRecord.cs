namespace Cairn.Storage;

// The record of a named collection in the file. Record 0 is the store itself and has no name.
//
//   I1  A record is complete before Superblock.CollectionCount counts it. Its name never changes afterwards.
[StructLayout(LayoutKind.Explicit, Size = StoreLayout.CollectionRecordBytes)]
internal unsafe struct CollectionRecord
{
    public const int MaxNameBytes = 192;

    public const byte ExpirationRelative = 1;
    public const byte ExpirationSliding = 2;

    /// <summary>
    /// A mark that differs from 0 in four bits. So the change of a single bit cannot turn a cache into a kept collection, which refuses writes when it is
    /// full.
    /// </summary>
    public const byte KeepMark = 0x4B;

    [FieldOffset(0)] public ushort NameBytes;

    /// <summary>How the default expiration counts: 0 none, 1 from the write, 2 from the last use.</summary>
    [FieldOffset(2)] public byte ExpirationKind;

    /// <summary>The first of the two marks of <see cref="Region"/>: 0 or <see cref="KeepMark"/>. It never changes.</summary>
    [FieldOffset(3)] public byte RegionMark;

    /// <summary>A <see cref="Cairn.Durability"/>. Never the default.</summary>
    [FieldOffset(4)] public byte Durability;
    [FieldOffset(5)] public byte RegionMarkAgain;
    [FieldOffset(8)] public long ExpirationMs;

    /// <summary>The maximum size of the collection's entries in bytes, hard if they are kept; 0 for no limit.</summary>
    [FieldOffset(16)] public long BudgetBytes;
    [FieldOffset(64)] public fixed byte Name[MaxNameBytes];

    /// <summary>
    /// Gets or sets whether entries are evicted or kept. If the two marks differ, entries are kept if one mark is <see cref="KeepMark"/>, or if neither
    /// mark is 0. So damage never causes the loss of kept entries, and damage of one byte hardly ever turns a cache into a kept collection.
    /// </summary>
    public StoreRegion Region
    {
        readonly get => RegionMark == KeepMark || RegionMarkAgain == KeepMark || (RegionMark != 0 && RegionMarkAgain != 0)
            ? StoreRegion.Keep
            : StoreRegion.Evict;
        set => RegionMark = RegionMarkAgain = value == StoreRegion.Keep ? KeepMark : (byte)0;
    }

    /// <summary>Gets whether both marks are valid and equal.</summary>
    public readonly bool IsRegionSound => RegionMark == RegionMarkAgain && RegionMark is 0 or KeepMark;

    /// <summary>
    /// Returns whether a write to the collection stores only an entry: no default expiration, no log. The record is read for each write, because another
    /// process can change it.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsPlain(CollectionRecord* record) =>
        record->ExpirationKind == 0 && record->Durability <= (byte)Cairn.Durability.ProcessCrash;

    public readonly bool IsLogged => Region == StoreRegion.Keep && Durability > (byte)Cairn.Durability.ProcessCrash;
}
