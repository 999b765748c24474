using Cairn.Indexing;
using Cairn.Keys;

namespace Cairn.Storage;

// An entry as it is in a segment:
//
//   0  key length - 1   u16        8  version   u64       20  optional fields, then the key, then the value
//   2  type             u8        16  checksum  u32
//   3  fields           u8
//   4  value length     u32
//
// Optional fields follow in this order, each only if its bit is set. If there is any, the four bytes of flags are present too. They align the other fields
// to a multiple of eight from the entry's start:
//
//   20  flags       u32
//       deadline    i64   Unix milliseconds; the entry expires at this moment
//       sliding     u64   current deadline 48 bits | check 16 bits, updated in place
//                   i64   interval, milliseconds
//       collection  u32   | 4 bytes reserved
//       lease       u32   owner slot | u32 incarnation | i64 end of the lease, Unix milliseconds
//       chosen      u64   version that a client chose
//
//   I1  Everything except the sliding word and the type is written once, before a slot leads to the entry. The type can become None (MarkGarbage)
//       after the slot has changed.
//   I2  The checksum covers everything except itself and the sliding word, which has its own check.
//
// Lengths are read once, in Parse. If a process overwrites them afterwards, the content of a read changes, but not its bounds.
internal readonly unsafe struct EntryView
{
    public const int HeaderBytes = 20;
    public const int MaxFieldsBytes = 4 + 8 + 16 + 8 + 16 + 8;
    public const int Alignment = 8;
    public const int MaxKeyBytes = 64 * 1024;

    // A value that arrives after the end of its lease is stored if no other caller has requested the key meanwhile. The time is long because it only costs
    // space.
    private const long LateHolderMs = 5 * 60 * 1000;

    private const int OffsetOfType = 2;
    private const ulong ChecksumSalt = 0xA076_1D64_78BD_642F;

    private static ReadOnlySpan<EntryType> KnownTypes => [EntryType.Value, EntryType.Lease, EntryType.Hash];

    public readonly byte* Start;
    public readonly ulong Word0;
    public readonly ulong Version;
    public readonly uint Checksum;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public EntryView(byte* start)
    {
        Start = start;
        Word0 = *(ulong*)start;
        Version = *(ulong*)(start + 8);
        Checksum = *(uint*)(start + 16);
    }

    public int KeyLength => (ushort)Word0 + 1;

    public EntryType Type => (EntryType)(byte)(Word0 >> 16);

    public EntryFields Fields => (EntryFields)(byte)(Word0 >> 24);

    /// <summary>Gets the length as it is in the file. Compare it with a bound as an unsigned number before use.</summary>
    public uint ValueLength => (uint)(Word0 >> 32);

    public int FieldsBytes => FieldsLength(Fields);

    public byte* Key => Start + HeaderBytes + FieldsBytes;

    public byte* Value => Key + KeyLength;

    /// <summary>Gets the length in bytes of the whole entry before padding. It is at most a little over 4 GiB, so it cannot overflow.</summary>
    public long UnpaddedBytes => HeaderBytes + FieldsBytes + KeyLength + (long)ValueLength;

    public long PaddedBytes => (UnpaddedBytes + (Alignment - 1)) & ~(long)(Alignment - 1);

    public uint Flags => Fields == 0 ? 0 : *(uint*)(Start + HeaderBytes);

    public bool HasDeadline => (Fields & (EntryFields.Deadline | EntryFields.Sliding)) != 0;

    public uint Collection =>
        (Fields & EntryFields.Collection) == 0 ? 0 : *(uint*)(Start + OffsetOf(EntryFields.Collection));

    public long SlidingIntervalMs => (Fields & EntryFields.Sliding) == 0 ? 0 : *(long*)(SlidingWord + 1);

    /// <summary>Gets the absolute deadline, or <see cref="long.MaxValue"/> if there is none.</summary>
    public long AbsoluteDeadline =>
        (Fields & EntryFields.Deadline) == 0 ? long.MaxValue : *(long*)(Start + OffsetOf(EntryFields.Deadline));

    /// <summary>Gets the version that a client chose for the entry; 0 if none did. The store itself uses <see cref="Version"/>.</summary>
    public ulong ChosenVersion =>
        (Fields & EntryFields.ChosenVersion) == 0 ? 0 : *(ulong*)(Start + OffsetOf(EntryFields.ChosenVersion));

    public ulong* SlidingWord => (ulong*)(Start + OffsetOf(EntryFields.Sliding));

    public uint LeaseOwner => *(uint*)(Start + OffsetOf(EntryFields.Lease));

    public uint LeaseIncarnation => *(uint*)(Start + OffsetOf(EntryFields.Lease) + 4);

    public long LeaseDeadline => *(long*)(Start + OffsetOf(EntryFields.Lease) + 8);

    /// <summary>Gets the moment at which the entry expires, in Unix milliseconds, or <see cref="long.MaxValue"/>.</summary>
    public long Deadline
    {
        get
        {
            long deadline = AbsoluteDeadline;
            if ((Fields & EntryFields.Sliding) != 0)
            {
                // Other processes update the word in place, so it is read once, atomically. If its check fails, the word is damaged, and the entry counts
                // as expired. A wrong deadline could otherwise serve the entry too long.
                ulong word = Volatile.Read(ref *SlidingWord);
                deadline = Math.Min(deadline, TryUnpackSliding(word, out long sliding) ? sliding : 0);
            }

            return deadline;
        }
    }

    /// <summary>
    /// Gets the moment from which the entry can be removed although its room is not needed. An entry with a lease stays until the lease has ended and its
    /// holder has had additional time for a late value. An entry that is only a lease is removed at the same moment.
    /// </summary>
    public long RemovableAt => (Fields & EntryFields.Lease) == 0 ? Deadline : RemovableAfterLease(Type, Deadline, LeaseDeadline);

    /// <summary>Returns the length in bytes of the optional fields.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int FieldsLength(EntryFields fields) => fields == 0 ? 0 : FieldsLengthOf(fields);

    public static long SizeOf(EntryFields fields, int keyLength, long valueLength) =>
        (HeaderBytes + FieldsLength(fields) + keyLength + valueLength + (Alignment - 1)) & ~(long)(Alignment - 1);

    /// <summary>Returns <see cref="RemovableAt"/> of an entry with a lease.</summary>
    public static long RemovableAfterLease(EntryType type, long deadline, long leaseDeadline) =>
        Math.Max(type == EntryType.Lease ? 0 : deadline, Math.Min(leaseDeadline, long.MaxValue - LateHolderMs) + LateHolderMs);

    /// <summary>Returns the first word of a gap: <paramref name="paddedBytes"/> bytes of a segment without an entry.</summary>
    public static ulong GapWord(long paddedBytes) => (ulong)(paddedBytes - HeaderBytes - 1) << 32;

    /// <summary>
    /// Marks an entry that no slot names any more. A walk over its segment then need not look for its slot. Only the holder of the partition's lock calls this.
    /// </summary>
    /// <remarks>
    /// A hint: an entry without the mark can be garbage, too. Release: pairs with the second read of the slot by a reader that has read the mark
    /// (HashIndex.Validate). The reader then sees that the slot has changed.
    /// </remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void MarkGarbage(byte* start) => Volatile.Write(ref *(start + OffsetOfType), (byte)EntryType.None);

    public static ulong PackSliding(long deadlineMs)
    {
        ulong deadline = (ulong)deadlineMs & 0xFFFF_FFFF_FFFF;
        return (deadline << 16) | SlidingCheck(deadline);
    }

    public static bool TryUnpackSliding(ulong word, out long deadlineMs)
    {
        ulong deadline = word >> 16;
        deadlineMs = (long)deadline;
        return (ushort)word == SlidingCheck(deadline);
    }

    /// <summary>
    /// Returns whether the entry ends within <paramref name="available"/> bytes.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsWithin(long available) => UnpaddedBytes <= available;

    public bool KeyEquals(byte* key, int length) =>
        length == KeyLength && ShortBytes.AreEqual(Key, key, length);

    /// <summary>Computes the checksum from the hash of the key and the store's seed.</summary>
    public uint ComputeChecksum(ulong keyHash, ulong seed) =>
        ComputeChecksum(Word0, Version, Start, FieldsBytes, ValueChecksum.Compute(Value, (int)ValueLength, seed), keyHash, seed);

    /// <summary>Returns whether these bytes, whose type is None, are an undamaged entry with the mark of garbage. A gap is not.</summary>
    public bool IsMarked(ulong keyHash, ulong seed)
    {
        uint valueSum = ValueChecksum.Compute(Value, (int)ValueLength, seed);
        foreach (EntryType type in KnownTypes)
        {
            ulong word0 = Word0 | ((ulong)type << (8 * OffsetOfType));
            if (ComputeChecksum(word0, Version, Start, FieldsBytes, valueSum, keyHash, seed) == Checksum)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Computes the checksum if the value's part is known. Long values are summed outside the lock.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint ComputeChecksum(
        ulong word0, ulong version, byte* start, int fieldsBytes, uint valueSum, ulong keyHash, ulong seed)
    {
        ulong sum = KeyHash.Fold(keyHash ^ version, word0 ^ ChecksumSalt) ^ valueSum;
        if (fieldsBytes != 0)
        {
            sum = KeyHash.Fold(sum, ChecksumSalt ^ FieldsHash((EntryFields)(byte)(word0 >> 24), start, fieldsBytes, seed));
        }

        return (uint)(sum ^ (sum >> 32));
    }

    /// <summary>Computes the checksum if the part of the optional fields is known, because these fields are always the same.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint ComputeChecksum(ulong word0, ulong version, ulong fieldsHash, uint valueSum, ulong keyHash)
    {
        ulong sum = KeyHash.Fold(keyHash ^ version, word0 ^ ChecksumSalt) ^ valueSum;
        sum = KeyHash.Fold(sum, ChecksumSalt ^ fieldsHash);
        return (uint)(sum ^ (sum >> 32));
    }

    /// <summary>Computes the part of the checksum that covers the optional fields.</summary>
    public static ulong FieldsHash(EntryFields fields, byte* start, int fieldsBytes, ulong seed)
    {
        byte* copy = stackalloc byte[MaxFieldsBytes];
        Unsafe.CopyBlockUnaligned(copy, start + HeaderBytes, (uint)fieldsBytes);
        if ((fields & EntryFields.Sliding) != 0)
        {
            *(ulong*)(copy + OffsetOf(fields, EntryFields.Sliding) - HeaderBytes) = 0;
        }

        return KeyHash.Compute(copy, fieldsBytes, seed);
    }

    private static ushort SlidingCheck(ulong deadline)
    {
        ulong mixed = KeyHash.Fold(deadline ^ ChecksumSalt, 0x9E37_79B9_7F4A_7C15);
        return (ushort)(mixed ^ (mixed >> 32));
    }

    private static int FieldsLengthOf(EntryFields fields) =>
        4 + ((fields & EntryFields.Deadline) != 0 ? 8 : 0) + ((fields & EntryFields.Sliding) != 0 ? 16 : 0)
        + ((fields & EntryFields.Collection) != 0 ? 8 : 0) + ((fields & EntryFields.Lease) != 0 ? 16 : 0)
        + ((fields & EntryFields.ChosenVersion) != 0 ? 8 : 0);

    private int OffsetOf(EntryFields field) => OffsetOf(Fields, field);

    /// <summary>Returns the offset of a field from the entry's start. It follows the header and the fields with lower bits.</summary>
    public static int OffsetOf(EntryFields fields, EntryFields field) =>
        HeaderBytes + FieldsLengthOf(fields & (EntryFields)((byte)field - 1));
}
