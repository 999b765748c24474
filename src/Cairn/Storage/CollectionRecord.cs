using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Cairn.Storage;

// A named collection as the file records it. Record 0 is the store itself and has no name.
//
//   I1  A record is complete before Superblock.CollectionCount counts it, and its name never changes afterwards.
[StructLayout(LayoutKind.Explicit, Size = StoreLayout.CollectionRecordBytes)]
internal unsafe struct CollectionRecord
{
    public const int MaxNameBytes = 192;

    public const byte ExpirationRelative = 1;
    public const byte ExpirationSliding = 2;

    /// <summary>Four bits from 0, so that no single one makes a cache a collection that refuses what it cannot keep.</summary>
    public const byte KeepMark = 0x4B;

    [FieldOffset(0)] public ushort NameBytes;

    /// <summary>How the default expiration counts: 0 none, 1 from the write, 2 from the last use.</summary>
    [FieldOffset(2)] public byte ExpirationKind;

    /// <summary>What <see cref="Region"/> says, twice, as 0 or <see cref="KeepMark"/>; never changes.</summary>
    [FieldOffset(3)] public byte RegionMark;

    /// <summary>A <see cref="Cairn.Durability"/>, never the default.</summary>
    [FieldOffset(4)] public byte Durability;
    [FieldOffset(5)] public byte RegionMarkAgain;
    [FieldOffset(8)] public long ExpirationMs;

    /// <summary>Limit of the bytes of its entries, hard if they are kept; 0 for none.</summary>
    [FieldOffset(16)] public long BudgetBytes;
    [FieldOffset(64)] public fixed byte Name[MaxNameBytes];

    /// <summary>
    /// Whether its entries may be evicted. One whose marks differ is kept if either is that of keeping, and if neither is 0: nothing may be lost that
    /// was to stay, and damage of one byte hardly ever makes a cache one that keeps.
    /// </summary>
    public StoreRegion Region
    {
        readonly get => RegionMark == KeepMark || RegionMarkAgain == KeepMark || (RegionMark != 0 && RegionMarkAgain != 0)
            ? StoreRegion.Keep
            : StoreRegion.Evict;
        set => RegionMark = RegionMarkAgain = value == StoreRegion.Keep ? KeepMark : (byte)0;
    }

    /// <summary>Whether the marks are of one region.</summary>
    public readonly bool IsRegionSound => RegionMark == RegionMarkAgain && RegionMark is 0 or KeepMark;

    /// <summary>Whether a write to the collection is no more than an entry: no default expiration, no log. Read anew for each, because another process may change it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsPlain(CollectionRecord* record) =>
        record->ExpirationKind == 0 && record->Durability <= (byte)Cairn.Durability.ProcessCrash;

    public readonly bool IsLogged => Region == StoreRegion.Keep && Durability > (byte)Cairn.Durability.ProcessCrash;
}
