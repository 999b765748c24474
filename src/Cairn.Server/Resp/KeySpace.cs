using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Server.Notifications;
using Cairn.Storage;

namespace Cairn.Server.Resp;

// The store's keys as commands see them: values and hashes under one roof. Each worker has its own, for the buffer that values
// are read into when they are worked on; replies get them straight from the store.
internal sealed unsafe class KeySpace(CairnStore store, int maxValueBytes)
{
    /// <summary>Longest key in bytes.</summary>
    public const int MaxKeyBytes = 65_536;

    private const int SmallestScratch = 1024;
    private const int KeptScratch = 64 << 10;

    private readonly StoreEngine _engine = store.Engine;
    private byte[] _scratch = [];

    public CairnStore Store => store;

    public StoreEngine Engine => _engine;

    /// <summary>Reads that found a key since the last <see cref="ForgetLookups"/>.</summary>
    public int Hits { get; private set; }

    /// <summary>Reads that found none.</summary>
    public int Misses { get; private set; }

    /// <summary>The longest value that clients may set; at most what the store takes.</summary>
    public int MaxValueBytes { get; } = Math.Min(maxValueBytes, store.MaxValueBytes);

    /// <summary>Where changes and misses are reported.</summary>
    public KeyspaceEvents Events { get; init; } = KeyspaceEvents.Off;

    /// <summary>Whether a read that finds no key is an event.</summary>
    public bool ReportsMisses { get; set; }

    public long NowMs => _engine.Clock.NowMs();

    public void ThrowIfClosed() => _engine.ThrowIfClosed();

    /// <summary>Counts reads from zero again.</summary>
    public void ForgetLookups() => Hits = Misses = 0;

    /// <summary>Where a key is, if it is.</summary>
    public KeyPlacement PlaceOf(ReadOnlySpan<byte> key)
    {
        fixed (byte* bytes = key)
        {
            return _engine.Memory.Place(_engine.Memory.HashKey(bytes, key.Length, 0));
        }
    }

    /// <summary>The number by which the store knows a key of a collection.</summary>
    public static ulong HashOf(StoreEngine engine, ReadOnlySpan<byte> key, uint collection)
    {
        fixed (byte* bytes = key)
        {
            return engine.Memory.HashKey(bytes, key.Length, collection);
        }
    }

    public int PartitionOf(ReadOnlySpan<byte> key) => PlaceOf(key).Partition;

    /// <summary>Copies a plain value. -1 if it must be read the long way, which may find none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int TryGetPlain(ReadOnlySpan<byte> key, Span<byte> destination)
    {
        fixed (byte* bytes = key)
        {
            KeyPlacement place = _engine.Memory.Place(_engine.Memory.HashKey(bytes, key.Length, 0));
            int length = _engine.TryGetPlain(
                new BytesKey(bytes, key.Length), place, ref MemoryMarshal.GetReference(destination), destination.Length, out _);
            Hits += ~(length >> 31) & 1; // Whatever is not there is counted by who reads it the long way.
            return length;
        }
    }

    /// <summary>Replaces a plain value by another. False if it must be written the long way.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReplacePlain(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (value.Length > MaxValueBytes)
        {
            return false;
        }

        fixed (byte* bytes = key)
        {
            KeyPlacement place = _engine.Memory.Place(_engine.Memory.HashKey(bytes, key.Length, 0));
            return _engine.TryReplacePlain(
                new BytesKey(bytes, key.Length), place, ref MemoryMarshal.GetReference(value), value.Length);
        }
    }

    /// <summary>Copies a key's value, or a hash's bytes.</summary>
    public ReadOutcome TryGet(ReadOnlySpan<byte> key, Span<byte> destination, out EntryInfo info)
    {
        fixed (byte* bytes = key)
        {
            KeyRef place = _engine.Place(bytes, key.Length, 0);
            ReadOutcome outcome = _engine.TryGet(place, destination, acceptStale: false, out info, acceptHash: true);
            Hits += outcome == ReadOutcome.Hit ? 1 : 0;
            if (outcome == ReadOutcome.Miss) // What was too long for the destination is read again.
            {
                OnMiss(place);
            }

            return outcome;
        }
    }

    /// <summary>What is known of a key, without counting as a use.</summary>
    public bool TryGetInfo(ReadOnlySpan<byte> key, out EntryInfo info)
    {
        fixed (byte* bytes = key)
        {
            KeyRef place = _engine.Place(bytes, key.Length, 0);
            bool isFound = _engine.TryGetInfo(place, acceptStale: false, out info, acceptHash: true);
            Hits += isFound ? 1 : 0;
            if (!isFound)
            {
                info = default; // One that has expired is as if it had not been.
                OnMiss(place);
            }

            return isFound;
        }
    }

    /// <summary>Reads a key's value, or a hash's bytes, to work on.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">Valid until the next read.</param>
    /// <param name="info">What else is known.</param>
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
                return outcome == ReadOutcome.Hit;
            }

            _scratch = GC.AllocateUninitializedArray<byte>(info.ValueBytes);
        }
    }

    /// <summary>Lets go of a long buffer.</summary>
    /// <returns>Its bytes.</returns>
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
    /// <param name="room">Bytes wanted behind the value.</param>
    /// <param name="buffer">The value and the room, which holds anything. Valid until the next read.</param>
    /// <param name="info">What is known of the value. If there is none, the buffer is all room.</param>
    public bool TryReadWithRoom(ReadOnlySpan<byte> key, int room, out Span<byte> buffer, out EntryInfo info)
    {
        bool isFound = TryRead(key, out ReadOnlySpan<byte> value, out info);
        int length = value.Length + room;
        if (_scratch.Length < length)
        {
            // Twice as much, because what grows now will grow again; but not of what is long.
            byte[] larger = GC.AllocateUninitializedArray<byte>(length <= KeptScratch / 2 ? 2 * length : length);
            value.CopyTo(larger);
            _scratch = larger;
        }

        buffer = _scratch.AsSpan(0, length);
        return isFound;
    }

    /// <summary>
    /// Looks at a value or a hash in place, or at a copy if no hazard cell is free: never waits. Dispose what is returned within the command,
    /// because what is pinned is not evicted.
    /// </summary>
    public PinnedEntry Pin(ReadOnlySpan<byte> key)
    {
        fixed (byte* bytes = key)
        {
            KeyRef place = _engine.Place(bytes, key.Length, 0);
            PinStatus status = _engine.TryPin(place, PinTerm.Brief, out Pin pin, mostCopied: long.MaxValue, acceptHash: true);
            Hits += status == PinStatus.Pinned ? 1 : 0;
            if (status != PinStatus.Pinned)
            {
                OnMiss(place);
            }

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

        var content = new EntryContent { Type = type, Flags = flags, Expiration = expiration, First = value };
        fixed (byte* bytes = key)
        {
            return Events.Write(_engine, _engine.Place(bytes, key.Length, 0), content, condition, version, out _);
        }
    }

    /// <summary>Writes a value if the key still is what it was when it was read.</summary>
    public WriteStatus WriteIfUnchanged(
        ReadOnlySpan<byte> key, EntryType type, ReadOnlySpan<byte> value, in ResolvedExpiration expiration, in EntryInfo old, uint flags = 0) =>
        old.Version == 0
            ? Write(key, type, value, expiration, WriteCondition.IfAbsent, 0, flags)
            : Write(key, type, value, expiration, WriteCondition.IfVersion, old.Version, flags);

    /// <summary>Replaces the bytes of an entry that still is what it was; type, expiration and flags stay.</summary>
    public WriteStatus Rewrite(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ulong version)
    {
        if (value.Length > MaxValueBytes)
        {
            return WriteStatus.TooLarge;
        }

        fixed (byte* bytes = key)
        {
            return _engine.Rewrite(_engine.Place(bytes, key.Length, 0), value, version);
        }
    }

    /// <summary>Adds bytes to the end of a value.</summary>
    public WriteStatus Append(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        // The store itself looks after its own limit.
        if (MaxValueBytes < store.MaxValueBytes && TryGetInfo(key, out EntryInfo info) && info.ValueBytes + value.Length > MaxValueBytes)
        {
            return WriteStatus.TooLarge;
        }

        fixed (byte* bytes = key)
        {
            return _engine.Join(_engine.Place(bytes, key.Length, 0), value, isPrefix: false);
        }
    }

    /// <summary>Changes when an entry expires; if <paramref name="version"/> is not 0, only if it still is at that.</summary>
    public WriteStatus Touch(ReadOnlySpan<byte> key, in ResolvedExpiration expiration, ulong version = 0)
    {
        fixed (byte* bytes = key)
        {
            return _engine.Touch(_engine.Place(bytes, key.Length, 0), expiration, version);
        }
    }

    /// <summary>Removes a key. False if there was none.</summary>
    public bool Remove(ReadOnlySpan<byte> key) => Remove(key, WriteCondition.Always, 0) == WriteStatus.Stored;

    /// <summary>Removes a key that still is what it was when it was read.</summary>
    public WriteStatus RemoveIfUnchanged(ReadOnlySpan<byte> key, ulong version) => Remove(key, WriteCondition.IfVersion, version);

    /// <summary>An expiration at a moment.</summary>
    public ResolvedExpiration At(long unixMs) => new(Math.Min(unixMs, long.MaxValue - 1), 0, NowMs);

    /// <summary>The expiration that an entry has. A sliding one becomes the moment at which it would end now.</summary>
    public ResolvedExpiration SameAs(in EntryInfo info) =>
        info.Version == 0 || info.DeadlineUnixMs == long.MaxValue ? ResolvedExpiration.Never : At(info.DeadlineUnixMs);

    /// <summary>Whether a write was declined because the key is not what it was: then read and try again.</summary>
    public static bool IsOvertaken(WriteStatus status) =>
        status is WriteStatus.VersionMismatch or WriteStatus.NotFound or WriteStatus.Exists;

    /// <summary>Makes a key what another one is, whatever it was before. Its first event is <c>new</c> in any case, as with Redis.</summary>
    public WriteStatus Duplicate(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, in EntryInfo source)
    {
        if (value.Length > MaxValueBytes)
        {
            return WriteStatus.TooLarge;
        }

        var content = new EntryContent { Type = source.Type, Flags = source.Flags, Expiration = SameAs(source), First = value };
        WriteStatus status;
        fixed (byte* bytes = key)
        {
            status = _engine.Write(_engine.Place(bytes, key.Length, 0), content, WriteCondition.Always, 0, out _);
        }

        if (status == WriteStatus.Stored)
        {
            Events.Notify(EventClasses.New, "new"u8, key);
        }

        return status;
    }

    /// <summary>A command that does more than read did not find the key that it reads.</summary>
    public void ReportMiss(ReadOnlySpan<byte> key) => Events.Notify(EventClasses.KeyMiss, "keymiss"u8, key);

    private void OnMiss(in KeyRef key)
    {
        Misses++;
        if (Events.IsOn)
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
            return _engine.Remove(_engine.Place(bytes, key.Length, 0), condition, version);
        }
    }
}
