namespace Cairn.Server.Memcached;

/// <summary>The kinds of events that a client of <c>watch</c> can receive.</summary>
[Flags]
internal enum WatchKinds
{
    None = 0,
    Fetchers = 1,
    Mutations = 2,
    Evictions = 4,
    ConnectionEvents = 8,
    Deletions = 16,

    /// <summary>The other kinds of memcached, about its own threads, its proxy and raw commands. No event belongs to them.</summary>
    Others = 32,
}

// The log behind watch. A line is written for each watcher that wants its kind, in the form of memcached.
//
//   I1  Without a watcher, an event costs one read and one branch.
//   I2  At most WatcherBytes of lines wait for a watcher. Further lines are dropped and counted, and the client reads "skipped=N" in their place.
//   I3  The number of a line (gid) grows in the order in which a watcher gets them.
/// <summary>Sends the requests of all clients to those that watch. Thread-safe.</summary>
internal sealed class WatchLog(TimeProvider clock, int bytesPerWatcher)
{
    // memcached's own limit.
    private const int MaxWatchers = 20;

    private readonly Lock _lock = new();
    private readonly List<WatchSession> _watchers = [];
    private volatile WatchKinds _wanted;
    private long _lastId;
    private long _written;
    private long _sent;
    private long _skipped;

    /// <summary>Gets or sets the action that runs with the kinds that are watched whenever these change. Runs under a lock of the log.</summary>
    public Action<WatchKinds>? OnWanted { get; init; }

    /// <summary>Gets the number of watchers, and of lines written, sent and dropped since the start.</summary>
    public (int Watchers, long Written, long Sent, long Skipped) Figures
    {
        get
        {
            lock (_lock)
            {
                return (_watchers.Count, _written, _sent, _skipped);
            }
        }
    }

    /// <summary>Returns whether a watcher wants events of a kind (I1).</summary>
    public bool Wants(WatchKinds kind) => (_wanted & kind) != 0;

    /// <summary>Reads the name of a kind. Returns <see cref="WatchKinds.None"/> for an unknown name.</summary>
    public static WatchKinds KindOf(ReadOnlySpan<byte> name) => name switch
    {
        _ when name.SequenceEqual("fetchers"u8) => WatchKinds.Fetchers,
        _ when name.SequenceEqual("mutations"u8) => WatchKinds.Mutations,
        _ when name.SequenceEqual("evictions"u8) => WatchKinds.Evictions,
        _ when name.SequenceEqual("connevents"u8) => WatchKinds.ConnectionEvents,
        _ when name.SequenceEqual("deletions"u8) => WatchKinds.Deletions,
        _ when name.SequenceEqual("rawcmds"u8) || name.SequenceEqual("sysevents"u8) || name.SequenceEqual("proxyreqs"u8)
            || name.SequenceEqual("proxyevents"u8) || name.SequenceEqual("proxyuser"u8) => WatchKinds.Others,
        _ => WatchKinds.None,
    };

    /// <summary>Adds a watcher. Returns false if there are too many.</summary>
    public bool TryAdd(WatchSession watcher)
    {
        lock (_lock)
        {
            if (_watchers.Count == MaxWatchers)
            {
                return false;
            }

            _watchers.Add(watcher);
            Update();
            return true;
        }
    }

    public void Remove(WatchSession watcher)
    {
        lock (_lock)
        {
            _watchers.Remove(watcher);
            Update();
        }
    }

    /// <summary>Writes the line of a read. Entries are in memcached's class 1, missing ones in class 0.</summary>
    public void WriteRead(ReadOnlySpan<byte> key, bool isFound, int descriptor, int valueBytes) => Write(
        WatchKinds.Fetchers, string.Create(
            CultureInfo.InvariantCulture,
            $"type=item_get key={KeyListing.Escaped(key)} status={(isFound ? "found" : "not_found")} clsid={(isFound ? 1 : 0)} cfd={descriptor} size={valueBytes}"));

    /// <summary>Writes a line, without its time and number.</summary>
    public void Write(WatchKinds kind, string text)
    {
        lock (_lock)
        {
            DateTimeOffset now = clock.GetUtcNow();
            long microseconds = now.UtcTicks / TimeSpan.TicksPerMicrosecond % 1_000_000;
            byte[] line = Encoding.UTF8.GetBytes(string.Create(
                CultureInfo.InvariantCulture, $"ts={now.ToUnixTimeSeconds()}.{microseconds} gid={++_lastId} {text}\n"));
            _written++;
            foreach (WatchSession watcher in _watchers)
            {
                if ((watcher.Kinds & kind) != 0)
                {
                    (watcher.TryAdd(line, bytesPerWatcher) ? ref _sent : ref _skipped)++; // I2, I3
                }
            }
        }
    }

    // Requires _lock.
    private void Update()
    {
        var wanted = WatchKinds.None;
        _watchers.ForEach(watcher => wanted |= watcher.Kinds);
        if (wanted != _wanted)
        {
            _wanted = wanted;
            OnWanted?.Invoke(wanted);
        }
    }
}
