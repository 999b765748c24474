using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Server.Notifications;
using Cairn.Server.Pinning;
using Cairn.Storage;

namespace Cairn.Server.Resp;

// The store's keys as commands see them: values and hashes in one name space. Each worker has its own instance, because of the buffer
// into which it reads values in order to change them. Replies are copied directly from the store.
internal sealed unsafe class KeySpace(CairnStore store, int maxValueBytes, PinnedKeys pinned)
{
    /// <summary>The maximum length of a key in bytes.</summary>
    public const int MaxKeyBytes = 65_536;

    private const int SmallestScratch = 1024;
    private const int KeptScratch = 64 << 10;

    /// <summary>The number of bytes whose checksum is computed in the time in which one byte is copied.</summary>
    public const int CheckedBytesOfCopied = 4;

    private readonly StoreEngine _engine = store.Engine;
    private byte[] _scratch = [];
    private long _longBytes;

    /// <summary>Gets the keys whose entries are kept.</summary>
    public PinnedKeys Pinned => pinned;

    public StoreEngine Engine => _engine;

    /// <summary>Gets the number of reads since the last <see cref="ForgetLookups"/> that found a key.</summary>
    public int Hits { get; private set; }

    /// <summary>Gets the number of reads that found none.</summary>
    public int Misses { get; private set; }

    /// <summary>Gets the maximum length of a value that clients may set; at most the store's limit.</summary>
    public int MaxValueBytes { get; } = Math.Min(maxValueBytes, store.MaxValueBytes);

    /// <summary>Gets the receiver of changes and misses.</summary>
    public KeyspaceEvents Events { get; init; } = KeyspaceEvents.Off;

    /// <summary>Gets or sets whether a read that finds no key is an event.</summary>
    public bool ReportsMisses { get; set; }

    public long NowMs => _engine.Clock.NowMs();

    public void ThrowIfClosed() => _engine.ThrowIfClosed();

    /// <summary>Resets the counts of reads to zero.</summary>
    public void ForgetLookups() => Hits = Misses = 0;

    /// <summary>Returns the number of bytes that were read and written to change or examine values since the last call.</summary>
    public long TakeLongBytes()
    {
        long bytes = _longBytes;
        _longBytes = 0;
        return bytes;
    }

    /// <summary>Returns the place of a key in the index, whether or not the key exists.</summary>
    public KeyPlacement PlaceOf(ReadOnlySpan<byte> key)
    {
        fixed (byte* bytes = key)
        {
            return pinned.PlaceOf(_engine, bytes, key.Length);
        }
    }

    /// <summary>Returns the hash by which the store identifies a key of a collection.</summary>
    public static ulong HashOf(StoreEngine engine, ReadOnlySpan<byte> key, uint collection)
    {
        fixed (byte* bytes = key)
        {
            return engine.Memory.HashKey(bytes, key.Length, collection);
        }
    }

    public int PartitionOf(ReadOnlySpan<byte> key) => PlaceOf(key).Partition;

    /// <summary>
    /// Copies a plain value. Returns its length, <see cref="StoreEngine.Missing"/>, or -1 if the slow path must read it. The slow path may find no value.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int TryGetPlain(ReadOnlySpan<byte> key, Span<byte> destination)
    {
        if (Events.Reads is not null)
        {
            return -1; // The slow path reports the read.
        }

        fixed (byte* bytes = key)
        {
            KeyPlacement place = pinned.PlaceOf(_engine, bytes, key.Length);
            int length = _engine.TryGetPlain(
                new BytesKey(bytes, key.Length), place, ref MemoryMarshal.GetReference(destination), destination.Length, out _, out _);
            Hits += ~(length >> 31) & 1; // The slow path counts everything else.
            if (length != StoreEngine.Missing)
            {
                return length;
            }

            if (Events.IsOn)
            {
                return -1; // The slow path reports the miss.
            }

            Misses++;
            _engine.CountMiss(place.Partition);
            return StoreEngine.Missing;
        }
    }

    /// <summary>Replaces a plain value by another one. Returns false if the slow path must write it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReplacePlain(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (value.Length > MaxValueBytes)
        {
            return false;
        }

        fixed (byte* bytes = key)
        {
            KeyPlacement place = pinned.PlaceOf(_engine, bytes, key.Length);
            return _engine.TryReplacePlain(
                new BytesKey(bytes, key.Length), place, ref MemoryMarshal.GetReference(value), value.Length);
        }
    }

    /// <summary>Copies a key's value, or a hash's bytes.</summary>
    public ReadOutcome TryGet(ReadOnlySpan<byte> key, Span<byte> destination, out EntryInfo info)
    {
        fixed (byte* bytes = key)
        {
            KeyRef place = pinned.Place(_engine, bytes, key.Length);
            ReadOutcome outcome = _engine.TryGet(place, destination, acceptStale: false, out info, acceptHash: true);
            if (outcome is ReadOutcome.Hit or ReadOutcome.Miss) // A value too long for the destination is read again.
            {
                Count(place, outcome == ReadOutcome.Hit, info.ValueBytes);
            }

            return outcome;
        }
    }

    /// <summary>Gets the properties of a key, without counting as a use.</summary>
    public bool TryGetInfo(ReadOnlySpan<byte> key, out EntryInfo info)
    {
        fixed (byte* bytes = key)
        {
            KeyRef place = pinned.Place(_engine, bytes, key.Length);
            bool isFound = _engine.TryGetInfo(place, acceptStale: false, out info, acceptHash: true);
            if (!isFound)
            {
                info = default; // An expired entry counts as absent.
            }

            Count(place, isFound, info.ValueBytes);

            return isFound;
        }
    }

    /// <summary>Reads a key's value, or a hash's bytes, into the worker's buffer.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, valid until the next read.</param>
    /// <param name="info">The entry's properties.</param>
    public bool TryRead(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value, out EntryInfo info)
    {
        if (_scratch.Length == 0)
        {
            _scratch = GC.AllocateUninitializedArray<byte>(SmallestScratch);
        }

        while (true)
        {
            ReadOutcome outcome = TryGet(key, _scratch, out info);
            if (outcome != ReadOutcome.TooShort)
            {
                value = outcome == ReadOutcome.Hit ? _scratch.AsSpan(0, info.ValueBytes) : default;
                _longBytes += value.Length;
                return outcome == ReadOutcome.Hit;
            }

            _scratch = GC.AllocateUninitializedArray<byte>(info.ValueBytes);
        }
    }

    /// <summary>Frees a long buffer.</summary>
    /// <returns>The number of bytes freed.</returns>
    public int Trim()
    {
        int bytes = _scratch.Length;
        if (bytes <= KeptScratch)
        {
            return 0;
        }

        _scratch = [];
        return bytes;
    }

    /// <summary>Reads a key's value to change it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="room">The number of bytes needed behind the value.</param>
    /// <param name="buffer">The value, followed by the room, which is not initialised. Valid until the next read.</param>
    /// <param name="info">The entry's properties. If there is no entry, the buffer consists of the room only.</param>
    public bool TryReadWithRoom(ReadOnlySpan<byte> key, int room, out Span<byte> buffer, out EntryInfo info)
    {
        bool isFound = TryRead(key, out ReadOnlySpan<byte> value, out info);
        int length = value.Length + room;
        if (_scratch.Length < length)
        {
            // Twice the length, because a value that grows now will probably grow again. Long values get only what they need.
            byte[] larger = GC.AllocateUninitializedArray<byte>(length <= KeptScratch / 2 ? 2 * length : length);
            value.CopyTo(larger);
            _scratch = larger;
        }

        buffer = _scratch.AsSpan(0, length);
        return isFound;
    }

    /// <summary>
    /// Pins a value or a hash in place, or copies it if no hazard cell is free. Never waits. Dispose the result before the command ends,
    /// because pinned entries are not evicted.
    /// </summary>
    public PinnedEntry Pin(ReadOnlySpan<byte> key)
    {
        fixed (byte* bytes = key)
        {
            KeyRef place = pinned.Place(_engine, bytes, key.Length);
            PinStatus status = _engine.TryPin(place, PinTerm.Brief, out Pin pin, mostCopied: long.MaxValue, acceptHash: true);
            Count(place, status == PinStatus.Pinned, pin.Info.ValueBytes);
            _longBytes += pin.Info.ValueBytes / CheckedBytesOfCopied;
            return new PinnedEntry(pin);
        }
    }

    /// <summary>Writes an entry.</summary>
    public WriteStatus Write(
        ReadOnlySpan<byte> key,
        EntryType type,
        ReadOnlySpan<byte> value,
        in ResolvedExpiration expiration,
        WriteCondition condition = WriteCondition.Always,
        ulong version = 0,
        uint flags = 0)
    {
        if (value.Length > MaxValueBytes)
        {
            return WriteStatus.TooLarge;
        }

        _longBytes += value.Length;
        var content = new EntryContent { Type = type, Flags = flags, Expiration = expiration, First = value };
        fixed (byte* bytes = key)
        {
            return Events.Write(_engine, pinned.Place(_engine, bytes, key.Length), content, condition, version, out _);
        }
    }

    /// <summary>Writes a value if the entry has not changed since it was read.</summary>
    public WriteStatus WriteIfUnchanged(
        ReadOnlySpan<byte> key, EntryType type, ReadOnlySpan<byte> value, in ResolvedExpiration expiration, in EntryInfo old, uint flags = 0) =>
        old.Version == 0
            ? Write(key, type, value, expiration, WriteCondition.IfAbsent, 0, flags)
            : Write(key, type, value, expiration, WriteCondition.IfVersion, old.Version, flags);

    /// <summary>Replaces the bytes of an entry that has not changed. Type, expiration and flags stay.</summary>
    public WriteStatus Rewrite(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ulong version)
    {
        if (value.Length > MaxValueBytes)
        {
            return WriteStatus.TooLarge;
        }

        _longBytes += value.Length;
        fixed (byte* bytes = key)
        {
            return _engine.Rewrite(pinned.Place(_engine, bytes, key.Length), value, version);
        }
    }

    /// <summary>Changes when an entry expires, if it has not changed since it was read.</summary>
    public WriteStatus Touch(ReadOnlySpan<byte> key, in ResolvedExpiration expiration, in EntryInfo old)
    {
        _longBytes += old.ValueBytes; // The entry is written again.
        fixed (byte* bytes = key)
        {
            return _engine.Touch(pinned.Place(_engine, bytes, key.Length), expiration, old.Version);
        }
    }

    /// <summary>Removes a key. Returns false if it did not exist.</summary>
    public bool Remove(ReadOnlySpan<byte> key) => Remove(key, WriteCondition.Always, 0) == WriteStatus.Stored;

    /// <summary>Removes a key if the entry has not changed since it was read.</summary>
    public WriteStatus RemoveIfUnchanged(ReadOnlySpan<byte> key, ulong version) => Remove(key, WriteCondition.IfVersion, version);

    /// <summary>Returns an expiration at a Unix time.</summary>
    public ResolvedExpiration At(long unixMs) => new(Math.Min(unixMs, long.MaxValue - 1), 0, NowMs);

    /// <summary>Returns the expiration of an entry. A sliding expiration becomes the time at which it would end now.</summary>
    public ResolvedExpiration SameAs(in EntryInfo info) =>
        info.Version == 0 || info.DeadlineUnixMs == long.MaxValue ? ResolvedExpiration.Never : At(info.DeadlineUnixMs);

    /// <summary>Returns whether a write was declined because the entry has changed. The caller then reads it and tries again.</summary>
    public static bool IsOvertaken(WriteStatus status) =>
        status is WriteStatus.VersionMismatch or WriteStatus.NotFound or WriteStatus.Exists;

    /// <summary>Copies an entry to a key, replacing any entry. Its first event is always <c>new</c>, as in Redis.</summary>
    public WriteStatus Duplicate(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, in EntryInfo source)
    {
        if (value.Length > MaxValueBytes)
        {
            return WriteStatus.TooLarge;
        }

        _longBytes += value.Length;
        var content = new EntryContent { Type = source.Type, Flags = source.Flags, Expiration = SameAs(source), First = value };
        WriteStatus status;
        fixed (byte* bytes = key)
        {
            status = _engine.Write(pinned.Place(_engine, bytes, key.Length), content, WriteCondition.Always, 0, out _);
        }

        if (status == WriteStatus.Stored)
        {
            Events.Notify(EventClasses.New, "new"u8, key);
        }

        return status;
    }

    /// <summary>Reports that a command that also writes did not find the key that it reads.</summary>
    public void ReportMiss(ReadOnlySpan<byte> key) => Events.Notify(EventClasses.KeyMiss, "keymiss"u8, key);

    private void Count(in KeyRef key, bool isFound, int valueBytes)
    {
        if (ReportsMisses && Events.Reads is { } reads)
        {
            reads(new ReadOnlySpan<byte>(key.Bytes, key.Length), isFound, isFound ? valueBytes : 0);
        }

        Hits += isFound ? 1 : 0;
        Misses += isFound ? 0 : 1;
        if (!isFound && Events.IsOn)
        {
            Events.OnMiss(_engine, key);
            if (ReportsMisses)
            {
                ReportMiss(new ReadOnlySpan<byte>(key.Bytes, key.Length));
            }
        }
    }

    private WriteStatus Remove(ReadOnlySpan<byte> key, WriteCondition condition, ulong version)
    {
        fixed (byte* bytes = key)
        {
            return _engine.Remove(pinned.Place(_engine, bytes, key.Length), condition, version);
        }
    }
}
