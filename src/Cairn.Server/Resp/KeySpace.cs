using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.Server.Resp;

// The store's keys as commands see them: values and hashes under one roof. Each session has its own, for the buffer that values
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
            ReadOutcome outcome =
                _engine.TryGet(_engine.Place(bytes, key.Length, 0), destination, acceptStale: false, out info, acceptHash: true);
            Hits += outcome == ReadOutcome.Hit ? 1 : 0;
            Misses += outcome == ReadOutcome.Miss ? 1 : 0; // What was too long for the destination is read again.
            return outcome;
        }
    }

    /// <summary>What is known of a key, without counting as a use.</summary>
    public bool TryGetInfo(ReadOnlySpan<byte> key, out EntryInfo info)
    {
        fixed (byte* bytes = key)
        {
            bool isFound = _engine.TryGetInfo(_engine.Place(bytes, key.Length, 0), acceptStale: false, out info, acceptHash: true);
            Hits += isFound ? 1 : 0;
            Misses += isFound ? 0 : 1;
            info = isFound ? info : default; // One that has expired is as if it had not been.
            return isFound;
        }
    }

    /// <summary>Reads a key's value, or a hash's bytes, to work on.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">Valid until the next read.</param>
    /// <param name="info">What else is known.</param>
    public bool TryRead(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value, out EntryInfo info)
    {
        if (_scratch.Length is 0 or > KeptScratch)
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

    /// <summary>Looks at a value or a hash in place. Dispose what is returned soon: what is pinned is not evicted.</summary>
    public PinnedEntry Pin(ReadOnlySpan<byte> key)
    {
        var wait = default(SpinWait);
        fixed (byte* bytes = key)
        {
            while (true)
            {
                int cell = _engine.TryPin(
                    _engine.Place(bytes, key.Length, 0), acceptStale: false, out EntryView entry, out EntryInfo info, isUse: true, acceptHash: true);
                if (cell != -2)
                {
                    Hits += cell >= 0 ? 1 : 0;
                    Misses += cell >= 0 ? 0 : 1;
                    return new PinnedEntry(_engine, cell, cell < 0 ? default : new ReadOnlySpan<byte>(entry.Value, info.ValueBytes), info);
                }

                wait.SpinOnce();
            }
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
            return _engine.Write(_engine.Place(bytes, key.Length, 0), content, condition, version, out _);
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

    private WriteStatus Remove(ReadOnlySpan<byte> key, WriteCondition condition, ulong version)
    {
        fixed (byte* bytes = key)
        {
            return _engine.Remove(_engine.Place(bytes, key.Length, 0), condition, version);
        }
    }
}
