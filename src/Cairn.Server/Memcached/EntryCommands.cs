// The commands of memcached on the entries of the store, with their rules, limits, counts and events. The sessions of all protocols call
// them. A session parses requests, writes replies and has the state of a connection; this type has none of that.
using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Server.Buffers;
using Cairn.Server.Notifications;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

/// <summary>Executes memcached's commands on the entries of a store. One instance for each worker, which only that worker uses.</summary>
internal sealed unsafe partial class EntryCommands
{
    /// <summary>Values of this length or more are pinned, and copied as the client reads.</summary>
    public const int LongValueBytes = 64 << 10;

    /// <summary>The room that a reply reserves for a value of unknown length.</summary>
    public const int LikelyValueBytes = 1 << 10;

    // Copying this many bytes takes some hundred microseconds.
    private const int MostCopiedInTurn = 1 << 20;

    // The bytes that memcached adds to key and value when it compares an item with its limit: header, version, and two terminators.
    private const int ItemOverheadBytes = 48 + 8 + 1 + 2;
    private const int ItemFlagsBytes = 4;

    /// <summary>The bytes of an item as memcached counts it beyond those of an entry, whose header has 20.</summary>
    public const int ItemBytesBeyondEntry = ItemOverheadBytes - 20;
    private const long MaxRelativeSeconds = 30 * 24 * 3600;
    private const long LastUnixSeconds = 253_402_300_799;

    private readonly MemcachedSessions _sessions;
    private readonly StoreEngine _engine;
    private readonly int _maxItemBytes;
    private long _copiedBytes;

    public EntryCommands(MemcachedSessions sessions, MemcachedCounters counters)
    {
        _sessions = sessions;
        _engine = sessions.Store.Engine;
        _maxItemBytes = sessions.Options.MaxItemBytes;
        _watch = sessions.Watch;
        Counters = counters;
        Events = sessions.Options.Events;
    }

    /// <summary>Gets whether the turn has room for another command. Commands that change or examine a long value read all of it.</summary>
    public bool HasShareOfTurn => _copiedBytes <= MostCopiedInTurn;

    public MemcachedCounters Counters { get; }

    public KeyspaceEvents Events { get; }

    /// <summary>Begins to execute the requests of a connection in a turn.</summary>
    public void BeginTurn() => _copiedBytes = 0;

    /// <summary>Counts bytes of a value that a command copied.</summary>
    public void CountCopied(long bytes) => _copiedBytes += bytes;

    // --- Rules ---

    /// <summary>Returns the expiration that a client means. 0 is never, a negative number is at once, up to 30 days is relative, and more
    /// is a Unix time.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ResolvedExpiration ExpirationOf(long seconds) => seconds == 0 ? ResolvedExpiration.Never : TimedExpirationOf(seconds);

    /// <summary>Returns an entry's expiration unchanged.</summary>
    public ResolvedExpiration ExpirationOf(in EntryInfo info)
    {
        if (info.SlidingInterval is { } interval)
        {
            return new ResolvedExpiration(
                info.SlidingLimit?.ToUnixTimeMilliseconds() ?? long.MaxValue, (long)interval.TotalMilliseconds, _engine.Clock.NowMs());
        }

        return info.DeadlineUnixMs == long.MaxValue
            ? ResolvedExpiration.Never
            : new ResolvedExpiration(info.DeadlineUnixMs, 0, _engine.Clock.NowMs());
    }

    /// <summary>Returns the number by which clients know a version of a key. The versions of a key's part of the store are not unique in the
    /// store, but these numbers are.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong TokenOf(in KeyPlacement place, ulong version) => _sessions.TokenOf(place.Partition, version);

    /// <summary>Returns the number by which clients know the version of an entry.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong TokenOf(in KeyPlacement place, in EntryInfo info) => _sessions.TokenOf(place.Partition, info);

    /// <summary>Returns the version for an entry that a request writes, if its client chose one; otherwise 0.</summary>
    public ulong ChosenVersionOf(in MemcachedRequest request)
    {
        ulong chosen = _sessions.Options.TellsVersions ? request.ChosenVersion : 0;
        if (chosen != 0)
        {
            _engine.Memory.RaiseChosenVersions();
        }

        return chosen;
    }

    /// <summary>Returns the version of a key's entry that a client's number stands for; 0 for any version. If it is a number of no version that
    /// the key can have, returns the largest number, which no entry has.</summary>
    public ulong VersionOf(in KeyRef key, ulong token)
    {
        if (token == 0 || !_sessions.Options.TellsVersions)
        {
            return 0;
        }

        // If the entry is replaced before the comparison, the comparison fails, as if it had come later.
        if (_engine.Memory.HasChosenVersions && _engine.TryGetInfo(key, acceptStale: false, out EntryInfo info) && info.ChosenVersion != 0)
        {
            return info.ChosenVersion == token ? info.Version : ulong.MaxValue;
        }

        return token % MemcachedSessions.MaxPartitions == (uint)key.Place.Partition && token >= MemcachedSessions.MaxPartitions
            ? token / MemcachedSessions.MaxPartitions : ulong.MaxValue;
    }

    /// <summary>Returns whether an item is larger than clients may set.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsTooLarge(int keyLength, long valueLength, uint flags) =>
        valueLength + keyLength + ItemOverheadBytes + (flags != 0 ? ItemFlagsBytes : 0) > _maxItemBytes
        || valueLength > _engine.Memory.MaxValueBytes;

    /// <summary>Returns the size of an item as memcached counts it.</summary>
    public static long ItemBytesOf(int keyLength, in EntryInfo info) =>
        (long)keyLength + info.ValueBytes + ItemOverheadBytes + (info.Flags != 0 ? ItemFlagsBytes : 0);

    // --- Reads ---

    /// <summary>
    /// Reads a value into an output, behind room for the part of the reply that precedes it. A long value is held instead, because the
    /// output gets it as the client reads.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="output">The output. Nothing is written: the caller fills the room and advances the output.</param>
    /// <param name="frame">The room to reserve before and after the value.</param>
    /// <param name="longValue">Holds a long value.</param>
    /// <param name="room">The reserved room.</param>
    /// <param name="info">The entry's properties.</param>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public ReadResult Read(
        in KeyRef key, OutputBuffer output, ReplyFrame frame, ref LongValue longValue, out Span<byte> room, out EntryInfo info)
    {
        int valueBytes = LikelyValueBytes;
        while (true)
        {
            room = output.Reserve(frame.HeadBytes + frame.TailBytes + valueBytes);
            ReadOutcome outcome = _engine.TryGet(key, room[frame.HeadBytes..^frame.TailBytes], acceptStale: false, out info);
            if (outcome != ReadOutcome.TooShort)
            {
                return outcome == ReadOutcome.Hit ? ReadResult.Read : ReadResult.Miss;
            }

            if (info.ValueBytes >= LongValueBytes)
            {
                PinStatus status = longValue.TryHold(_engine, key);
                info = longValue.Info;
                return status switch
                {
                    PinStatus.Pinned => ReadResult.Held,
                    PinStatus.Missing => ReadResult.Miss,
                    _ => ReadResult.Waiting,
                };
            }

            valueBytes = info.ValueBytes;
        }
    }

    /// <summary>Reads as <see cref="Read"/> does, and sets the expiration first, so that the reply has the resulting version. An entry
    /// that is to expire at once is read before it is removed.</summary>
    public ReadResult TouchAndRead(
        in KeyRef key, long seconds, OutputBuffer output, ReplyFrame frame, ref LongValue longValue, out Span<byte> room, out EntryInfo info)
    {
        ResolvedExpiration expiration = ExpirationOf(seconds);
        ReadResult result;
        if (expiration.IsPast)
        {
            result = Read(key, output, frame, ref longValue, out room, out info);
            if (result != ReadResult.Waiting)
            {
                Remove(key);
            }
        }
        else
        {
            WriteStatus status = Touch(key, expiration);
            result = Read(key, output, frame, ref longValue, out room, out info);
            if (status == WriteStatus.NotFound && result is ReadResult.Read or ReadResult.Held)
            {
                Touch(key, expiration); // The entry was stored in between.
            }
        }

        if (result != ReadResult.Waiting) // A request that waits is repeated as a whole, and counted then.
        {
            Counters.Touches++;
            (result == ReadResult.Miss ? ref Counters.TouchMisses : ref Counters.TouchHits)++;
        }

        return result;
    }

    /// <summary>Counts a key that was looked up.</summary>
    /// <param name="key">The key.</param>
    /// <param name="keyLength">The key's length.</param>
    /// <param name="place">The key's place.</param>
    /// <param name="isHit">Whether there was a value.</param>
    /// <param name="isTouch">Whether the command also set the expiration. Such a command counts only as a touch, as in memcached.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void CountGet(byte* key, int keyLength, in KeyPlacement place, bool isHit, bool isTouch = false)
    {
        KeyRef name = _sessions.Options.Pinned.At(key, keyLength, place);
        NoteGet(name);
        if (!isHit)
        {
            OnGetMiss(name);
        }

        if (!isTouch)
        {
            Counters.Gets++;
            (isHit ? ref Counters.GetHits : ref Counters.GetMisses)++;
        }

        if (_sessions.Prefixes.IsOn)
        {
            _sessions.Prefixes.CountGet(new ReadOnlySpan<byte>(key, keyLength), isHit);
        }
    }

    /// <summary>Retracts an entry that a read did not find because it has expired or was flushed, and sends its events.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void OnGetMiss(in KeyRef key)
    {
        CountGone(key);
        OnMiss(key, isRead: true);
    }

    /// <summary>Counts an entry that has expired or was flushed, and retracts it.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void CountGone(in KeyRef key)
    {
        switch (_engine.TakeOutGone(key))
        {
            case GoneReason.Expired:
                Counters.GetExpired++;
                break;
            case GoneReason.Cleared:
                Counters.GetFlushed++;
                break;
            default:
                break;
        }
    }

    private static ReadOnlySpan<byte> NameOf(in KeyRef key) => new(key.Bytes, key.Length);

    private ResolvedExpiration TimedExpirationOf(long seconds)
    {
        long now = _engine.Clock.NowMs();
        return seconds switch
        {
            < 0 => new ResolvedExpiration(now, 0, now),
            <= MaxRelativeSeconds => new ResolvedExpiration(now + (seconds * 1000), 0, now),
            <= LastUnixSeconds => new ResolvedExpiration(seconds * 1000, 0, now),
            _ => ResolvedExpiration.Never,
        };
    }
}

/// <summary>The bytes of a reply before and after its value.</summary>
internal readonly record struct ReplyFrame(int HeadBytes, int TailBytes);

/// <summary>The result of <see cref="EntryCommands.Read"/>.</summary>
internal enum ReadResult
{
    Miss,

    /// <summary>The value is in the room, behind the place of the head.</summary>
    Read,

    /// <summary>The value is held. It follows the head as the client reads.</summary>
    Held,

    /// <summary>The connection waits for a hazard cell, and then looks up the key again.</summary>
    Waiting,
}
