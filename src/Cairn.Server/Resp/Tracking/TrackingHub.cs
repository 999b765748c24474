using System.Runtime.InteropServices;
using Cairn.Engine;
using Cairn.Server.Buffers;
using Cairn.Server.Pinning;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp.Tracking;

// Sends invalidations to tracking clients. The hub reads changes from the store's invalidation rings, so it sees the changes of all
// writers: sessions of both protocols, and other processes. A ring contains a key's hash. The hub gets the name from the keys that
// clients have read, from the index, or from the command that removed the key.
//
//   a key written here through RESP     invalidated before the writer gets its reply
//   a key written otherwise             invalidated when the rings are read next, every few milliseconds
//   a key that expired or was evicted   invalidated when the key is checked next, about every second
//   an overrun ring                     all tracked keys of its partition are invalidated
//   all rings overrun: store emptied    clients must discard everything
//
//   I1  A key is added before it is read, and invalidations follow the replies in the output. So a client never keeps a value that
//       has changed without a later invalidation.
//   I2  A thread that holds partitions may take this lock. A thread that holds this lock takes no partition lock.
//   I3  While a partition has a writer, the writer holds it, and the changes of others were already sent. So every change found is
//       the writer's own.
internal sealed class TrackingHub : IDisposable
{
    /// <summary>The default maximum number of tracked keys.</summary>
    public const int DefaultMostKeys = 262_144;

    /// <summary>The default maximum number of bytes of tracked keys and their readers.</summary>
    public const long DefaultMostBytes = 64 << 20;

    private const int MostNames = 4096;
    private const int MostNameBytes = 1 << 20;
    private const int MostToldKept = 1024;
    private const int MostNews = 1024;
    private const int MostNewsBytes = 64 << 10;
    private const long NoWriter = -1;

    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan s_round = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly CairnStore _store;
    private readonly Func<long, ITracker?> _find;
    private readonly KeySpace _keySpace;
    private readonly TrackedKeys _keys;
    private readonly List<ITracker> _trackers = [];
    private readonly ChangedKeys _messages = new();
    private readonly List<ChangedKey> _news = []; // For broadcast clients, in the present round.
    private readonly List<byte[]> _wanted = [];
    private readonly Dictionary<byte[], FollowedPrefix> _followed = new(new BytesComparer());
    private readonly Dictionary<byte[], FollowedPrefix>.AlternateLookup<ReadOnlySpan<byte>> _followedBySpan;
    private readonly List<FollowedPrefix> _changed = []; // Those with news.
    private readonly Dictionary<int, int> _prefixesOfLength = [];
    private int[] _prefixLengths = []; // In ascending order. A changed key is looked up once for each.
    private readonly Dictionary<ulong, byte[]> _names = []; // Names of keys that commands are about to change, for broadcasts.
    private HashSet<(ulong Hash, long Writer)> _told = []; // Sent to broadcast clients in this round.
    private readonly InvalidationCursor[] _cursors;
    private readonly ITracker?[] _writers; // By partition (I3).
    private readonly List<int> _overrun = [];
    private readonly ITimer _timer;
    private volatile int _trackerCount;
    private volatile int _broadcastCount;
    private int _flushes;
    private int _nextLook;
    private int _nameBytes;
    private int _newsBytes;
    private long _countedBytes;

    /// <summary>Creates a hub that no client uses yet.</summary>
    /// <param name="store">The store whose changes the hub sends.</param>
    /// <param name="clock">The source of the hub's timer.</param>
    /// <param name="find">Returns the connected client with an identifier; null if it has left.</param>
    /// <param name="pinned">The keys whose entries are kept.</param>
    /// <param name="mostKeys">The maximum number of tracked keys.</param>
    /// <param name="mostBytes">The maximum number of bytes of tracked keys and their readers.</param>
    public TrackingHub(
        CairnStore store, TimeProvider clock, Func<long, ITracker?> find, PinnedKeys pinned, int mostKeys = DefaultMostKeys, long mostBytes = DefaultMostBytes)
    {
        _store = store;
        _find = find;
        _keySpace = new KeySpace(store, int.MaxValue, pinned);
        _keys = new TrackedKeys(mostKeys, mostBytes, id => find(id) is not null);
        _cursors = new InvalidationCursor[store.PartitionCount];
        _writers = new ITracker?[_cursors.Length];
        _timer = clock.CreateTimer(_ => Tick(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        MostKeys = mostKeys;
        _followedBySpan = _followed.GetAlternateLookup<ReadOnlySpan<byte>>();
    }

    public int MostKeys { get; }

    /// <summary>Gets whether any client tracks keys.</summary>
    public bool IsActive => _trackerCount > 0;

    /// <summary>Gets whether any client is in broadcast mode, which includes keys that it has not read.</summary>
    public bool HasBroadcasts => _broadcastCount > 0;

    /// <summary>Gets the number of clients that track keys.</summary>
    public int TrackerCount => _trackerCount;

    /// <summary>Gets the number of tracked keys.</summary>
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

    /// <summary>Gets the number of different prefixes that clients in broadcast mode follow. Thread-safe, approximate.</summary>
    public int PrefixCount => _followed.Count;

    /// <summary>Gets the number of invalidations that were sent to broadcast clients. Thread-safe, approximate.</summary>
    public long BroadcastsSent { get; private set; }

    /// <summary>Gets the approximate memory that the tracked keys use.</summary>
    public long KeyBytes
    {
        get
        {
            lock (_lock)
            {
                return _keys.Bytes;
            }
        }
    }

    /// <summary>Starts, changes or ends the tracking of a client.</summary>
    public void Change(ITracker session, TrackingState? before, TrackingState? after)
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

            if (before is { IsBroadcast: true })
            {
                Unfollow(session, before);
            }

            if (after is { IsBroadcast: true })
            {
                Follow(session, after);
            }

            _trackerCount = _trackers.Count;
            _broadcastCount += (after is { IsBroadcast: true } ? 1 : 0) - (before is { IsBroadcast: true } ? 1 : 0);
            _names.Clear();
            _nameBytes = 0;
            CountBytes(session.Peer.Held.Account);
        }
    }

    /// <summary>Adds a key that a client is about to read (I1).</summary>
    public void Remember(ITracker session, TrackingState state, ReadOnlySpan<byte> key)
    {
        bool isThere = _keySpace.TryGetInfo(key, out EntryInfo info);

        // A broadcast client must still receive the invalidation when the key expires.
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
                _keys.AddReader(place, session.Peer.Id);
                _keys.At(place).WasThere |= isThere;
                KeepWithinBytes(session.Peer.Held.Account);
                return;
            }

            place = _keys.NextPlace();
            if (_keys.At(place).Key is not null)
            {
                TellReaders(place, isChange: false);
            }

            _keys.Add(place, hash, key.ToArray(), isThere, session.Peer.Id);
            KeepWithinBytes(session.Peer.Held.Account);
        }
    }

    // The table counts against the memory of all connections, but connections cannot free it. So it has a limit of its own.
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

    /// <summary>Records the name of a key that a command is about to change or remove.</summary>
    public void NoteName(ReadOnlySpan<byte> key)
    {
        lock (_lock)
        {
            _nameBytes += key.Length;
            if (_names.Count >= MostNames || _nameBytes > MostNameBytes)
            {
                _nameBytes = key.Length;
                _names.Clear(); // The names are lost. Then broadcast clients must discard everything.
            }

            _names[_keySpace.PlaceOf(key).Hash] = key.ToArray();
        }
    }

    /// <summary>Begins the changes of a client that does not want invalidations of its own changes. It holds the partitions of the
    /// keys.</summary>
    /// <param name="writer">The client; its <see cref="ITracker.OwnHashes"/> are the keys.</param>
    public void BeginOwn(ITracker writer)
    {
        lock (_lock)
        {
            Tell(); // The changes of others so far (I3).
            SetWriter(writer, writer);
        }
    }

    /// <summary>Ends the changes, while the client still holds the partitions.</summary>
    public void EndOwn(ITracker writer)
    {
        lock (_lock)
        {
            Tell();
            SetWriter(writer, null);
        }
    }

    /// <summary>Sends invalidations for all new changes.</summary>
    public void Tell()
    {
        lock (_lock)
        {
            if (_trackers.Count == 0 || _flushes > 0)
            {
                return;
            }

            _overrun.Clear();
            ForgetTold();
            Span<ulong> hashes = stackalloc ulong[64];
            for (int partition = 0; partition < _cursors.Length; partition++)
            {
                InvalidationStatus status;
                while ((status = _store.ReadInvalidations(partition, ref _cursors[partition], hashes, out int count)) == InvalidationStatus.Changed)
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

            SendNews();
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

    // Clearing costs as much as the set once had room for, so a large one is replaced.
    private void ForgetTold()
    {
        if (_told.Count > MostToldKept)
        {
            _told = [];
        }
        else
        {
            _told.Clear();
        }
    }

    /// <summary>Delays invalidations while the store is being emptied, so that they are sent together afterwards.</summary>
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

    /// <summary>Checks every tracked key now, for tests.</summary>
    public void LookAtAll() => Look(int.MaxValue);

    public void Dispose() => _timer.Dispose();

    private void SetWriter(ITracker writer, ITracker? value)
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
            _cursors[partition] = _store.GetInvalidationCursor(partition);
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
            // The store was closed because the server is stopping.
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            _store.Engine.Failures.Report("Sending invalidations to clients", failure.Message); // The next turn continues.
        }
    }

    // Checks whether tracked keys still exist. The rings do not report keys that expired or were evicted.
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

    private void TellOne(ulong hash, ITracker? writer)
    {
        byte[]? name = null;
        if (_keys.Find(hash) is var place and >= 0)
        {
            name = _keys.At(place).Key;
            TellReaders(place, isChange: true, writer);
        }

        // Only once per change: a transaction may set a key and then remove it, and its name is known only for the first of these
        // changes.
        if (_broadcastCount == 0 || !_told.Add((hash, writer?.Peer.Id ?? NoWriter)))
        {
            return;
        }

        bool isOther = false;
        if (name is null && !_names.Remove(hash, out name))
        {
            name = FindName(hash, out isOther);
        }

        if (isOther)
        {
            return;
        }

        if (name is not null)
        {
            _news.Add(new ChangedKey(name, writer));
            _newsBytes += name.Length;
            if (_news.Count == MostNews || _newsBytes > MostNewsBytes)
            {
                SendNews();
            }

            return;
        }

        foreach (ITracker tracker in _trackers)
        {
            if (tracker.Tracking is { IsBroadcast: true } state && !(tracker == writer && state.IsNoLoop))
            {
                tracker.Invalidate(null);
            }
        }
    }

    // Each broadcast client gets the collected changes in one message for each of its prefixes, as in Redis. Clients with the same prefix share the message.
    private void SendNews()
    {
        foreach (ChangedKey change in _news)
        {
            foreach (int length in _prefixLengths)
            {
                if (length > change.Name.Length)
                {
                    break;
                }

                if (_followedBySpan.TryGetValue(change.Name.AsSpan(0, length), out FollowedPrefix? prefix))
                {
                    if (prefix.News.Count == 0)
                    {
                        _changed.Add(prefix);
                    }

                    prefix.News.Add(change);
                }
            }
        }

        foreach (FollowedPrefix prefix in _changed)
        {
            Send(prefix);
            prefix.News.Clear();
        }

        _changed.Clear();
        _news.Clear();
        _newsBytes = 0;
    }

    private void Send(FollowedPrefix prefix)
    {
        bool hasWriters = prefix.News.Exists(change => change.Writer is not null);
        PublishedMessage? message = null;
        foreach (ITracker tracker in prefix.Trackers)
        {
            if (hasWriters && tracker.Tracking is { IsNoLoop: true } && prefix.News.Exists(change => change.Writer == tracker))
            {
                PublishedMessage? own = MessageOf(prefix.News, tracker, except: tracker);
                if (own is not null)
                {
                    tracker.Invalidate(own);
                    own.Release();
                }
            }
            else
            {
                message ??= MessageOf(prefix.News, tracker, except: null);
                tracker.Invalidate(message);
            }
        }

        message?.Release();
        BroadcastsSent += prefix.Trackers.Count;
    }

    // Returns null if the client made all the changes.
    private PublishedMessage? MessageOf(List<ChangedKey> news, ITracker receiver, ITracker? except)
    {
        _wanted.Clear();
        foreach ((byte[] name, ITracker? writer) in news)
        {
            if (except is null || writer != except)
            {
                _wanted.Add(name);
            }
        }

        return _wanted.Count == 0 ? null : _messages.MessageOf(CollectionsMarshal.AsSpan(_wanted), receiver.Peer.Held.Account);
    }

    private void Follow(ITracker tracker, TrackingState state)
    {
        foreach (byte[] prefix in state.Prefixes)
        {
            if (!_followed.TryGetValue(prefix, out FollowedPrefix? followed))
            {
                _followed.Add(prefix, followed = new FollowedPrefix());
                if (!_prefixesOfLength.TryGetValue(prefix.Length, out int count))
                {
                    _prefixLengths = [.. _prefixLengths.Append(prefix.Length).Order()];
                }

                _prefixesOfLength[prefix.Length] = count + 1;
            }

            followed.Trackers.Add(tracker);
        }
    }

    private void Unfollow(ITracker tracker, TrackingState state)
    {
        foreach (byte[] prefix in state.Prefixes)
        {
            HashSet<ITracker> trackers = _followed[prefix].Trackers;
            trackers.Remove(tracker);
            if (trackers.Count == 0)
            {
                _followed.Remove(prefix);
                if (--_prefixesOfLength[prefix.Length] == 0)
                {
                    _prefixesOfLength.Remove(prefix.Length);
                    _prefixLengths = [.. _prefixLengths.Where(length => length != prefix.Length)];
                }
            }
        }
    }

    // Returns the name of a key that was set, or null if it is gone. Sets isOther if the key is in a collection, which RESP does not see.
    private byte[]? FindName(ulong hash, out bool isOther)
    {
        StoreEngine engine = _keySpace.Engine;
        Storage.KeyPlacement place = engine.Memory.Place(hash);
        byte[]? name = null;
        bool isInCollection = false;
        void Visit(ReadOnlySpan<byte> key, in EntryInfo info, uint collection)
        {
            if (KeySpace.HashOf(engine, key, collection) == hash)
            {
                name = key.ToArray();
                isInCollection = !_keySpace.Pinned.Shows(collection);
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

    // Broadcast clients receive this change separately.
    private void TellReaders(int place, bool isChange, ITracker? writer = null)
    {
        TrackedKey tracked = _keys.At(place);
        _keys.Remove(place);
        PublishedMessage? message = null;
        TellReader(tracked.First);
        foreach (long reader in tracked.More ?? [])
        {
            TellReader(reader);
        }

        message?.Release();

        void TellReader(long reader)
        {
            if (_find(reader) is { } session && session.Tracking is { } state && !(isChange && state.IsBroadcast) && !(session == writer && state.IsNoLoop))
            {
                message ??= _messages.MessageOf([tracked.Key!], session.Peer.Held.Account);
                session.Invalidate(message);
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
        foreach (ITracker tracker in _trackers)
        {
            if (!isBroadcastOnly || tracker.Tracking is { IsBroadcast: true })
            {
                tracker.Invalidate(null);
            }
        }
    }

    // Seeded in each process, so clients cannot choose prefixes that collide.
    private sealed class BytesComparer : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
    {
        public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

        public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

        public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();

        public int GetHashCode(byte[] obj) => GetHashCode(obj.AsSpan());

        public int GetHashCode(ReadOnlySpan<byte> alternate)
        {
            var hash = default(HashCode);
            hash.AddBytes(alternate);
            return hash.ToHashCode();
        }
    }

    /// <summary>A prefix that broadcast clients follow.</summary>
    private sealed class FollowedPrefix
    {
        public HashSet<ITracker> Trackers { get; } = [];

        /// <summary>Gets the changes of the present round.</summary>
        public List<ChangedKey> News { get; } = [];
    }

    /// <summary>A changed key.</summary>
    /// <param name="Name">The key.</param>
    /// <param name="Writer">The client that changed it and wants no invalidations of its own changes; null if any client may get the message.</param>
    private readonly record struct ChangedKey(byte[] Name, ITracker? Writer);
}
