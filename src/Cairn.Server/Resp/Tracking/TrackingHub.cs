using Cairn.Engine;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp.Tracking;

// Tells clients which keys have changed. Changes are read from the store's rings, so whoever made them is noticed: any session, of
// either protocol, and other processes. A ring tells a key's hash; the name comes from what clients have read, from the index, or
// from the command that removed the key.
//
//   written here through RESP     told before the writer has its reply
//   written otherwise             told when the rings are looked at next, every few milliseconds
//   expired, evicted              told when the key's turn comes to be looked at, about every second
//   a ring that was overrun       everything remembered of its partition is told
//   all rings overrun: emptied    clients are told to drop everything
//
//   I1  A key is remembered before it is read, and changes are told by what comes after the replies at hand: a client never keeps a
//       value that changed without being told later.
//   I2  Who has partitions held may take this lock; who has this lock takes no partition's.
//   I3  While a partition has a writer, that holds it, and the changes of others were told before: what is found is its own.
internal sealed class TrackingHub : IDisposable
{
    /// <summary>Keys that are remembered.</summary>
    public const int DefaultMostKeys = 262_144;

    /// <summary>Bytes of keys that are remembered, and of who read them.</summary>
    public const long DefaultMostBytes = 64 << 20;

    private const int MostNames = 4096;
    private const int MostNameBytes = 1 << 20;

    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan s_round = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly RespServer _server;
    private readonly KeySpace _keySpace;
    private readonly TrackedKeys _keys;
    private readonly List<RespSession> _trackers = [];
    private readonly Dictionary<ulong, byte[]> _names = []; // Of keys that commands are about to change, for broadcasts.
    private readonly InvalidationCursor[] _cursors;
    private readonly RespSession?[] _writers; // By partition (I3).
    private readonly List<int> _overrun = [];
    private readonly ITimer _timer;
    private volatile int _trackerCount;
    private volatile int _broadcastCount;
    private int _flushes;
    private int _nextLook;
    private int _nameBytes;
    private long _countedBytes;

    public TrackingHub(RespServer server, int mostKeys = DefaultMostKeys, long mostBytes = DefaultMostBytes)
    {
        _server = server;
        _keySpace = new KeySpace(server.Store, server.MaxValueBytes);
        _keys = new TrackedKeys(mostKeys, mostBytes);
        _cursors = new InvalidationCursor[server.Store.PartitionCount];
        _writers = new RespSession?[_cursors.Length];
        _timer = server.Clock.CreateTimer(_ => Tick(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        MostKeys = mostKeys;
    }

    public int MostKeys { get; }

    /// <summary>Whether any client follows changes.</summary>
    public bool IsActive => _trackerCount > 0;

    /// <summary>Whether any client is told of changes of keys that it has not read.</summary>
    public bool HasBroadcasts => _broadcastCount > 0;

    /// <summary>Clients that follow changes.</summary>
    public int TrackerCount => _trackerCount;

    /// <summary>Keys remembered.</summary>
    public int KeyCount
    {
        get
        {
            lock (_lock)
            {
                return _keys.Count;
            }
        }
    }

    /// <summary>A client follows changes from now on, otherwise than before, or no more.</summary>
    public void Change(RespSession session, TrackingState? before, TrackingState? after)
    {
        lock (_lock)
        {
            if (before is null && after is not null)
            {
                if (_trackers.Count == 0)
                {
                    Begin();
                }

                _trackers.Add(session);
            }
            else if (before is not null && after is null)
            {
                _trackers.Remove(session);
                if (_trackers.Count == 0)
                {
                    _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
                    _keys.Clear();
                }
            }

            _trackerCount = _trackers.Count;
            _broadcastCount += (after is { IsBroadcast: true } ? 1 : 0) - (before is { IsBroadcast: true } ? 1 : 0);
            _names.Clear();
            _nameBytes = 0;
            CountBytes(session.Peer.Held.Account);
        }
    }

    /// <summary>A client is about to read this key (I1).</summary>
    public void Remember(RespSession session, TrackingState state, ReadOnlySpan<byte> key)
    {
        bool isThere = _keySpace.TryGetInfo(key, out EntryInfo info);

        // Who is told of all changes must still hear that the key expired.
        if (state.IsBroadcast && !(isThere && info.DeadlineUnixMs != long.MaxValue && state.IsWanted(key)))
        {
            return;
        }

        ulong hash = _keySpace.PlaceOf(key).Hash;
        lock (_lock)
        {
            int place = _keys.Find(hash);
            if (place >= 0)
            {
                _keys.AddReader(place, session);
                _keys.At(place).WasThere |= isThere;
                KeepWithinBytes(session.Peer.Held.Account);
                return;
            }

            place = _keys.NextPlace();
            if (_keys.At(place).Key is not null)
            {
                TellReaders(place, isChange: false);
            }

            _keys.Add(place, hash, key.ToArray(), isThere, session);
            KeepWithinBytes(session.Peer.Held.Account);
        }
    }

    // The table counts against the memory of all connections, but connections cannot give it back: so it has a limit of its own.
    private void KeepWithinBytes(MemoryAccount account)
    {
        while (_keys.IsTooLong)
        {
            TellReaders(_keys.OldestPlace(), isChange: false);
        }

        CountBytes(account);
    }

    private void CountBytes(MemoryAccount account)
    {
        account.Add(_keys.Bytes - _countedBytes);
        account.CountHeap(Math.Max(0, _keys.Bytes - _countedBytes));
        _countedBytes = _keys.Bytes;
    }

    /// <summary>A command is about to change this key, and may remove it.</summary>
    public void NoteName(ReadOnlySpan<byte> key)
    {
        lock (_lock)
        {
            _nameBytes += key.Length;
            if (_names.Count >= MostNames || _nameBytes > MostNameBytes)
            {
                _nameBytes = key.Length;
                _names.Clear(); // Not known any more: then who is told of all changes drops everything.
            }

            _names[_keySpace.PlaceOf(key).Hash] = key.ToArray();
        }
    }

    /// <summary>A client that does not want to hear of its own changes is about to change keys, whose partitions it holds.</summary>
    /// <param name="writer">The client; its <see cref="RespSession.OwnHashes"/> are the keys.</param>
    public void BeginOwn(RespSession writer)
    {
        lock (_lock)
        {
            Tell(); // Those of others so far (I3).
            SetWriter(writer, writer);
        }
    }

    /// <summary>It has changed them, and still holds the partitions.</summary>
    public void EndOwn(RespSession writer)
    {
        lock (_lock)
        {
            Tell();
            SetWriter(writer, null);
        }
    }

    /// <summary>Tells all changes that were not told yet.</summary>
    public void Tell()
    {
        lock (_lock)
        {
            if (_trackers.Count == 0 || _flushes > 0)
            {
                return;
            }

            _overrun.Clear();
            Span<ulong> hashes = stackalloc ulong[64];
            for (int partition = 0; partition < _cursors.Length; partition++)
            {
                InvalidationStatus status;
                while ((status = _server.Store.ReadInvalidations(partition, ref _cursors[partition], hashes, out int count)) == InvalidationStatus.Changed)
                {
                    foreach (ulong hash in hashes[..count])
                    {
                        TellOne(hash, _writers[partition] is { } writer && writer.OwnHashes.Contains(hash) ? writer : null);
                    }
                }

                if (status == InvalidationStatus.Overrun)
                {
                    _overrun.Add(partition);
                }
            }

            if (_overrun.Count == _cursors.Length)
            {
                _keys.Clear();
                TellAll(isBroadcastOnly: false);
            }
            else if (_overrun.Count > 0)
            {
                _overrun.ForEach(TellPartition);
                TellAll(isBroadcastOnly: true);
            }
        }
    }

    /// <summary>The store is about to be emptied: changes are told when it is, at once.</summary>
    public void BeginFlush()
    {
        lock (_lock)
        {
            _flushes++;
        }
    }

    public void EndFlush()
    {
        lock (_lock)
        {
            _flushes--;
        }

        Tell();
    }

    /// <summary>Looks at every key that is remembered, now, for tests.</summary>
    public void LookAtAll() => Look(int.MaxValue);

    public void Dispose() => _timer.Dispose();

    private void SetWriter(RespSession writer, RespSession? value)
    {
        foreach (ulong hash in writer.OwnHashes)
        {
            _writers[_keySpace.Engine.Memory.Place(hash).Partition] = value;
        }
    }

    private void Begin()
    {
        for (int partition = 0; partition < _cursors.Length; partition++)
        {
            _cursors[partition] = _server.Store.GetInvalidationCursor(partition);
        }

        _timer.Change(s_interval, s_interval);
    }

    private void Tick()
    {
        try
        {
            Tell();
            Look((int)(_keys.Places / (s_round / s_interval)) + 1);
        }
        catch (ObjectDisposedException)
        {
            // The store was closed; the server is being stopped.
        }
    }

    // Looks whether keys that were there still are: what expired or was evicted was posted to no ring.
    private void Look(int most)
    {
        lock (_lock)
        {
            int count = Math.Min(most, _keys.Places);
            for (int i = 0; i < count && _keys.Places > 0; i++)
            {
                int place = _nextLook = (_nextLook + 1) % _keys.Places;
                TrackedKey tracked = _keys.At(place);
                if (tracked.Key is { } key && tracked.WasThere && !_keySpace.TryGetInfo(key, out _))
                {
                    TellReaders(place, isChange: false);
                }
            }
        }
    }

    private void TellOne(ulong hash, RespSession? writer)
    {
        byte[]? name = null;
        if (_keys.Find(hash) is var place and >= 0)
        {
            name = _keys.At(place).Key;
            TellReaders(place, isChange: true, writer);
        }

        if (_broadcastCount == 0)
        {
            return;
        }

        bool isOther = false;
        if (name is null && !_names.Remove(hash, out name))
        {
            name = FindName(hash, out isOther);
        }

        foreach (RespSession tracker in _trackers)
        {
            if (tracker.Tracking is not { IsBroadcast: true } state || isOther || (tracker == writer && state.IsNoLoop))
            {
                continue;
            }

            if (name is null)
            {
                tracker.Invalidate(null);
            }
            else if (state.IsWanted(name))
            {
                tracker.Invalidate(name);
            }
        }
    }

    // The name of a key that was set. Null if it is gone; isOther if it is in a collection, which RESP does not see.
    private byte[]? FindName(ulong hash, out bool isOther)
    {
        StoreEngine engine = _keySpace.Engine;
        Indexing.KeyPlacement place = engine.Memory.Place(hash);
        byte[]? name = null;
        bool isInCollection = false;
        void Visit(ReadOnlySpan<byte> key, in EntryInfo info, uint collection)
        {
            if (KeySpace.HashOf(engine, key, collection) == hash)
            {
                name = key.ToArray();
                isInCollection = collection != 0;
            }
        }

        long first = (long)place.Partition * engine.Memory.Layout.BucketsPerPartition;
        engine.VisitBucket(first + place.Primary, Visit);
        if (name is null)
        {
            engine.VisitBucket(first + place.Alternate, Visit);
        }

        isOther = isInCollection;
        return name;
    }

    // Who is told of all changes hears of this one otherwise.
    private void TellReaders(int place, bool isChange, RespSession? writer = null)
    {
        TrackedKey tracked = _keys.At(place);
        _keys.Remove(place);
        TellReader(tracked.First);
        foreach (RespSession session in tracked.More ?? [])
        {
            TellReader(session);
        }

        void TellReader(RespSession session)
        {
            if (session.Tracking is { } state && !(isChange && state.IsBroadcast) && !(session == writer && state.IsNoLoop))
            {
                session.Invalidate(tracked.Key);
            }
        }
    }

    private void TellPartition(int partition)
    {
        for (int place = 0; place < _keys.Places; place++)
        {
            if (_keys.At(place).Key is not null && _keySpace.Engine.Memory.Place(_keys.At(place).Hash).Partition == partition)
            {
                TellReaders(place, isChange: false);
            }
        }
    }

    private void TellAll(bool isBroadcastOnly)
    {
        foreach (RespSession tracker in _trackers)
        {
            if (!isBroadcastOnly || tracker.Tracking is { IsBroadcast: true })
            {
                tracker.Invalidate(null);
            }
        }
    }
}
