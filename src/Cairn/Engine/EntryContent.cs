using System.Runtime.CompilerServices;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.Engine;

/// <summary>An entry about to be written: everything but its version and its place.</summary>
internal unsafe ref struct EntryContent
{
    public EntryType Type;
    public uint Flags;

    /// <summary>Some of <see cref="EntryFields.Marks"/>, or none.</summary>
    public EntryFields Marks;
    public ResolvedExpiration Expiration;

    /// <summary>The value, in up to two parts, so that append and prepend need no copy of their own.</summary>
    public ReadOnlySpan<byte> First;
    public ReadOnlySpan<byte> Second;

    /// <summary>
    /// The entry in the file that one of the parts is taken from; null if both are the caller's. The new entry gets a checksum of its own, which
    /// would make damage to the old one look whole.
    /// </summary>
    public byte* Origin;
    public bool IsOriginSecond;

    /// <summary>No change to those who cache above: the value that was there, without its lease, or one that makes nothing they hold old.</summary>
    public bool IsQuiet;

    /// <summary>Somebody asked for the value that is there, to give it another time: as good as a read, of an entry that has a slot.</summary>
    public bool IsUse;

    public bool HasLease;
    public uint LeaseOwner;
    public uint LeaseIncarnation;
    public long LeaseDeadline;

    /// <summary>The value of a pinned entry with more at one of its ends.</summary>
    /// <param name="pin">The entry, held for as long as this is used.</param>
    /// <param name="addition">What is added.</param>
    /// <param name="isPrefix">True if in front.</param>
    public static EntryContent Joined(scoped in Pin pin, ReadOnlySpan<byte> addition, bool isPrefix)
    {
        ReadOnlySpan<byte> value = pin.Value;
        return new EntryContent
        {
            Type = pin.Info.Type,
            Flags = pin.Info.Flags,
            Expiration = ExpirationOf(pin.Entry),
            First = isPrefix ? addition : value,
            Second = isPrefix ? value : addition,
            Origin = pin.Entry.Start,
            IsOriginSecond = isPrefix,
        };
    }

    /// <summary>Gone before it is written: nothing is stored, and what was there is removed.</summary>
    public readonly bool IsPast => Expiration.IsPast && !HasLease;

    public readonly long ValueBytes => (long)First.Length + Second.Length;

    public readonly EntryFields FieldsFor(uint collection)
    {
        EntryFields fields = Expiration.Fields
            | Marks
            | (collection != 0 ? EntryFields.Collection : 0)
            | (HasLease ? EntryFields.Lease : 0);
        return fields != 0 || Flags != 0 ? fields | EntryFields.Flags : 0;
    }

    /// <summary>The latest moment the entry may live to without being written or used, for the segment's header.</summary>
    public readonly long SegmentDeadline =>
        HasLease ? long.MaxValue : EarliestDeadline;

    /// <summary>As <see cref="EntryView.RemovableAt"/>.</summary>
    public readonly long RemovableAt => HasLease
        ? EntryView.RemovableAfterLease(Type, EarliestDeadline, LeaseDeadline)
        : EarliestDeadline;

    private readonly long EarliestDeadline => Expiration.IsNever ? long.MaxValue : Expiration.EarliestDeadline;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly long PaddedBytes(in KeyRef key) =>
        EntryView.SizeOf(FieldsFor(key.Collection), key.Length, ValueBytes);

    /// <summary>Writes the whole entry. Nothing names it yet, so the order of the stores does not matter.</summary>
    /// <returns>False if what it is made from is damaged.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly bool TryWrite(byte* target, in KeyRef key, ulong version, ulong checksumSeed)
    {
        EntryFields fields = FieldsFor(key.Collection);
        byte* value = WriteKey(target, key, fields);
        uint valueSum = WriteValue(value, checksumSeed);
        WriteHeader(target, key, fields, (uint)ValueBytes, valueSum, version, checksumSeed);
        return Origin is null || IsFaithful(value, key, checksumSeed);
    }

    /// <summary>Writes the value. Returns its sum, of the caller's bytes and not of what somebody may be scribbling over them in the file.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly uint WriteValue(byte* value, ulong checksumSeed)
    {
        if (Second.IsEmpty)
        {
            fixed (byte* source = First)
            {
                return ValueChecksum.ComputeAndCopyIn(source, value, First.Length, checksumSeed);
            }
        }

        First.CopyTo(new Span<byte>(value, First.Length));
        Second.CopyTo(new Span<byte>(value + First.Length, Second.Length));
        return ValueChecksum.Compute(value, (int)ValueBytes, checksumSeed);
    }

    /// <summary>True if a value that was written, and its sum taken, is what its parts were: then the sum is theirs.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public readonly bool IsFaithful(byte* value, in KeyRef key, ulong checksumSeed)
    {
        if (Origin is null)
        {
            return true;
        }

        ReadOnlySpan<byte> taken = IsOriginSecond ? Second : First;
        ReadOnlySpan<byte> added = IsOriginSecond ? First : Second;
        byte* takenCopy = IsOriginSecond ? value + First.Length : value;
        byte* addedCopy = IsOriginSecond ? value : value + First.Length;
        var origin = new EntryView(Origin);
        uint sum = EntryView.ComputeChecksum(
            origin.Word0, origin.Version, Origin, origin.FieldsBytes, ValueChecksum.Compute(takenCopy, taken.Length, checksumSeed),
            key.Place.Hash, checksumSeed);
        return sum == origin.Checksum && origin.ValueLength == (uint)taken.Length
            && added.SequenceEqual(new ReadOnlySpan<byte>(addedCopy, added.Length));
    }

    /// <summary>Writes the key. Returns where the value goes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* WriteKey(byte* target, in KeyRef key, EntryFields fields)
    {
        byte* at = target + EntryView.HeaderBytes + EntryView.FieldsLength(fields);
        new ReadOnlySpan<byte>(key.Bytes, key.Length).CopyTo(new Span<byte>(at, key.Length));
        return at + key.Length;
    }

    /// <summary>Writes header and optional fields around a key and a value that are in place.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly void WriteHeader(
        byte* target, in KeyRef key, EntryFields fields, uint valueLength, uint valueSum, ulong version, ulong checksumSeed)
    {
        ulong word0 = (ulong)(uint)(key.Length - 1) | ((ulong)Type << 16) | ((ulong)fields << 24) | ((ulong)valueLength << 32);
        *(ulong*)target = word0;
        *(ulong*)(target + 8) = version;
        int fieldsBytes = 0;
        if (fields != 0)
        {
            fieldsBytes = EntryView.FieldsLength(fields);
            WriteFields(target, key.Collection, fields);
        }

        *(uint*)(target + 16) = EntryView.ComputeChecksum(
            word0, version, target, fieldsBytes, valueSum, key.Place.Hash, checksumSeed);
    }

    private readonly void WriteFields(byte* target, uint collection, EntryFields fields)
    {
        *(uint*)(target + EntryView.HeaderBytes) = Flags;
        if ((fields & EntryFields.Deadline) != 0)
        {
            *(long*)(target + EntryView.OffsetOf(fields, EntryFields.Deadline)) = Expiration.Deadline;
        }

        if ((fields & EntryFields.Sliding) != 0)
        {
            byte* sliding = target + EntryView.OffsetOf(fields, EntryFields.Sliding);
            *(ulong*)sliding = EntryView.PackSliding(Expiration.NowMs + Expiration.SlidingMs);
            *(long*)(sliding + 8) = Expiration.SlidingMs;
        }

        if ((fields & EntryFields.Collection) != 0)
        {
            *(ulong*)(target + EntryView.OffsetOf(fields, EntryFields.Collection)) = collection;
        }

        if ((fields & EntryFields.Lease) != 0)
        {
            byte* lease = target + EntryView.OffsetOf(fields, EntryFields.Lease);
            *(uint*)lease = LeaseOwner;
            *(uint*)(lease + 4) = LeaseIncarnation;
            *(long*)(lease + 8) = LeaseDeadline;
        }
    }

    /// <summary>The expiration of an entry that stays as it is while the value changes.</summary>
    public static ResolvedExpiration ExpirationOf(in EntryView entry)
    {
        if (!entry.HasDeadline)
        {
            return ResolvedExpiration.Never;
        }

        long interval = entry.SlidingIntervalMs;
        long slidingDeadline = 0;
        if (interval != 0 && !EntryView.TryUnpackSliding(Volatile.Read(ref *entry.SlidingWord), out slidingDeadline))
        {
            slidingDeadline = 0; // Damaged: it stays expired (EntryView.Deadline).
        }

        return new ResolvedExpiration(entry.AbsoluteDeadline, interval, slidingDeadline - interval);
    }
}
