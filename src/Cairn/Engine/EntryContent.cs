using Cairn.Indexing;
using Cairn.Keys;

namespace Cairn.Engine;

/// <summary>The content of an entry to be written: everything except its version and its place.</summary>
internal unsafe ref struct EntryContent
{
    public EntryType Type;
    public uint Flags;

    /// <summary>A combination of <see cref="EntryFields.Marks"/>, or none.</summary>
    public EntryFields Marks;
    public ResolvedExpiration Expiration;

    /// <summary>The version that a client of memcached's protocol chose; 0 for none.</summary>
    public ulong ChosenVersion;

    /// <summary>The value, in up to two parts, so that append and prepend need no buffer.</summary>
    public ReadOnlySpan<byte> First;
    public ReadOnlySpan<byte> Second;

    /// <summary>
    /// The entry in the file that one of the parts comes from; its start is null if both parts are the caller's. The copied part is compared with the checksum
    /// of this entry. Otherwise the new entry's own checksum would hide damage to the old entry.
    /// </summary>
    public EntryView Origin;
    public bool IsOriginSecond;

    /// <summary>Whether caches above need no invalidation, because the write only ends a lease or makes none of their values stale.</summary>
    public bool IsQuiet;

    /// <summary>Whether the write counts as a read, because a caller changes the expiration of an existing value. The entry has a slot.</summary>
    public bool IsUse;

    public bool HasLease;
    public uint LeaseOwner;
    public uint LeaseIncarnation;
    public long LeaseDeadline;

    /// <summary>Returns the value of a pinned entry with bytes added at one end.</summary>
    /// <param name="pin">The entry. It stays pinned as long as the result is used.</param>
    /// <param name="addition">The bytes to add.</param>
    /// <param name="isPrefix">Whether they precede the value.</param>
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
            Origin = pin.Entry,
            IsOriginSecond = isPrefix,
        };
    }

    /// <summary>Gets whether the entry has already expired. Then nothing is stored, and the key's entry is removed.</summary>
    public readonly bool IsPast => Expiration.IsPast && !HasLease;

    public readonly long ValueBytes => (long)First.Length + Second.Length;

    public readonly EntryFields FieldsFor(uint collection)
    {
        EntryFields fields = Expiration.Fields
            | Marks
            | (collection != 0 ? EntryFields.Collection : 0)
            | (HasLease ? EntryFields.Lease : 0)
            | (ChosenVersion != 0 ? EntryFields.ChosenVersion : 0);
        return fields != 0 || Flags != 0 ? fields | EntryFields.Flags : 0;
    }

    /// <summary>Gets the latest time at which the entry can expire unless it is written or used. For the segment's header.</summary>
    public readonly long SegmentDeadline =>
        HasLease ? long.MaxValue : EarliestDeadline;

    /// <summary>Gets when the entry can be removed, as <see cref="EntryView.RemovableAt"/>.</summary>
    public readonly long RemovableAt => HasLease
        ? EntryView.RemovableAfterLease(Type, EarliestDeadline, LeaseDeadline)
        : EarliestDeadline;

    private readonly long EarliestDeadline => Expiration.IsNever ? long.MaxValue : Expiration.EarliestDeadline;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly long PaddedBytes(in KeyRef key) =>
        EntryView.SizeOf(FieldsFor(key.Collection), key.Length, ValueBytes);

    /// <summary>Writes the whole entry. No slot names it yet, so the order of the stores does not matter.</summary>
    /// <returns>False if the entry that the value comes from is damaged.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly bool TryWrite(byte* target, in KeyRef key, ulong version, ulong checksumSeed)
    {
        EntryFields fields = FieldsFor(key.Collection);
        byte* value = WriteKey(target, key, fields);
        uint valueSum = WriteValue(value, checksumSeed);
        WriteHeader(target, key, fields, (uint)ValueBytes, valueSum, version, checksumSeed);
        return Origin.Start is null || IsFaithful(value, key, checksumSeed);
    }

    /// <summary>Writes the value. Returns the checksum of the caller's bytes, not of the file's bytes, which another process can overwrite.</summary>
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

    /// <summary>Returns whether a written value equals its parts. Its checksum is valid only then.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public readonly bool IsFaithful(byte* value, in KeyRef key, ulong checksumSeed)
    {
        if (Origin.Start is null)
        {
            return true;
        }

        ReadOnlySpan<byte> taken = IsOriginSecond ? Second : First;
        ReadOnlySpan<byte> added = IsOriginSecond ? First : Second;
        byte* takenCopy = IsOriginSecond ? value + First.Length : value;
        byte* addedCopy = IsOriginSecond ? value : value + First.Length;
        uint sum = EntryView.ComputeChecksum(
            Origin.Word0, Origin.Version, Origin.Start, Origin.FieldsBytes, ValueChecksum.Compute(takenCopy, taken.Length, checksumSeed),
            key.Place.Hash, checksumSeed);
        return sum == Origin.Checksum && Origin.ValueLength == (uint)taken.Length
            && added.SequenceEqual(new ReadOnlySpan<byte>(addedCopy, added.Length));
    }

    /// <summary>Writes the key. Returns the place of the value.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* WriteKey(byte* target, in KeyRef key, EntryFields fields)
    {
        byte* at = target + EntryView.HeaderBytes + EntryView.FieldsLength(fields);
        new ReadOnlySpan<byte>(key.Bytes, key.Length).CopyTo(new Span<byte>(at, key.Length));
        return at + key.Length;
    }

    /// <summary>Writes the header and the optional fields around a key and a value that are already in place.</summary>
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

        if ((fields & EntryFields.ChosenVersion) != 0)
        {
            *(ulong*)(target + EntryView.OffsetOf(fields, EntryFields.ChosenVersion)) = ChosenVersion;
        }
    }

    /// <summary>Returns the expiration of an entry, for a write that does not change it.</summary>
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
            slidingDeadline = 0; // Damaged: the entry stays expired (EntryView.Deadline).
        }

        return new ResolvedExpiration(entry.AbsoluteDeadline, interval, slidingDeadline - interval);
    }
}
