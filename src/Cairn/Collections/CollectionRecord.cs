using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Cairn.Storage;

namespace Cairn.Collections;

// A named collection as the file records it. Record 0 is the store itself and has no name.
//
//   I1  A record is complete before Superblock.CollectionCount counts it, and its name never changes afterwards.
[StructLayout(LayoutKind.Explicit, Size = StoreLayout.CollectionRecordBytes)]
internal unsafe struct CollectionRecord
{
    public const int MaxNameBytes = 192;

    public const byte ExpirationRelative = 1;
    public const byte ExpirationSliding = 2;

    [FieldOffset(0)] public ushort NameBytes;

    /// <summary>How the default expiration counts: 0 none, 1 from the write, 2 from the last use.</summary>
    [FieldOffset(2)] public byte ExpirationKind;

    /// <summary>A <see cref="StoreRegion"/>; never changes.</summary>
    [FieldOffset(3)] public byte Region;

    /// <summary>A <see cref="Cairn.Durability"/>, never the default.</summary>
    [FieldOffset(4)] public byte Durability;
    [FieldOffset(8)] public long ExpirationMs;

    /// <summary>Limit of the bytes of its entries, hard if they are kept; 0 for none.</summary>
    [FieldOffset(16)] public long BudgetBytes;
    [FieldOffset(64)] public fixed byte Name[MaxNameBytes];

    /// <summary>Whether a write to the collection is no more than an entry: no default expiration, no log. Read anew for each, because another process may change it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsPlain(CollectionRecord* record) =>
        record->ExpirationKind == 0 && record->Durability <= (byte)Cairn.Durability.ProcessCrash;

    public readonly bool IsLogged => Durability > (byte)Cairn.Durability.ProcessCrash;
}
