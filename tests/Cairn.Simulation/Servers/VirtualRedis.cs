// A model of a Redis server, as far as the client uses it: strings and hashes with expiration, transactions, the scripts of leases, tracking by
// prefixes or by the keys that were read, publish and subscribe, under RESP3; alone, or as a node of a VirtualCluster.
//
// As in Redis, one turn reads the commands of all connections that have sent some, executes them one after the other, adds the invalidations
// that tracking connections asked for, and then sends everything. A turn takes the time of its work (ServerCosts), and the next one waits for
// it. ModelTests compares the replies with those of a real server.
using System.Globalization;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using Cairn.Simulation.Network;
using Cairn.Simulation.Rewriting;
using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Servers;

internal sealed class VirtualRedis(World world, string name, SeededRandom random) : VirtualServer(world, name, random)
{
    private readonly Dictionary<string, RedisEntry> _entries = new(StringComparer.Ordinal);
    private readonly Dictionary<string, string> _scripts = new(StringComparer.Ordinal);
    private readonly List<RedisSession> _sessions = [];
    private readonly List<RedisSession> _ready = [];
    private readonly List<(string Key, RedisSession? By)> _changed = [];
    private readonly Dictionary<string, HashSet<RedisSession>> _readers = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Key, RedisSession By), long> _changedAt = [];
    private long _nextId;
    private bool _hasTurn;
    private long _delayedUntil; // Of the broken twin.
    private long _busyUntil;
    private long _owedTicks;
    private long _nextExpiration = long.MaxValue;

    /// <summary>Gets or sets how long the server's work takes.</summary>
    public ServerCosts Costs { get; set; } = ServerCosts.Small;

    /// <summary>Gets what the server has done so far.</summary>
    public ServerCounters Counters { get; } = new();

    /// <summary>Gets or sets whether a tracking connection learns of changes of the keys that it has read, instead of all keys with its prefixes.</summary>
    public bool TracksByKey { get; set; }

    /// <summary>Gets or sets the Cluster that the server belongs to.</summary>
    public VirtualCluster? Cluster { get; set; }

    /// <summary>Gets or sets the address of the server as a node of its Cluster.</summary>
    public IPEndPoint? ClusterPlace { get; set; }

    /// <summary>Gets or sets since when the other nodes of the Cluster cannot reach this one; null if they can.</summary>
    public long? IsolatedAt { get; set; }

    /// <summary>Gets or sets the shard that the server had before.</summary>
    public ClusterShard? ShardWhenIsolated { get; set; }

    /// <summary>Gets or sets the slots of the Cluster as they were before.</summary>
    public string? SlotsWhenIsolated { get; set; }

    /// <summary>Gets or sets whether the server tracks keys. Without it, caches publish their changes.</summary>
    public bool Tracks { get; set; } = true;

    public int Keys => _entries.Count;

    public override IEnumerable<string> KeyNames => _entries.Keys;

    /// <summary>Gets or sets for how long the server was stalled before the other nodes could no longer reach it.</summary>
    public long StalledBefore { get; set; }

    public RedisEntry? EntryOf(string key) => _entries.GetValueOrDefault(key);

    public override void Evict(string key)
    {
        if (_entries.ContainsKey(key))
        {
            Remove(key, by: null);
            BeginTurn();
        }
    }

    /// <summary>Takes a change of the master.</summary>
    public void Replicate(string key, RedisEntry? entry)
    {
        if (entry is null)
        {
            _entries.Remove(key);
        }
        else
        {
            _entries[key] = entry.Copy();
        }

        // A replica tells connections that track keys, too.
        _changed.Add((key, null));
        TellReaders(key);
        _nextExpiration = 0;
        BeginTurn();
    }

    /// <summary>Becomes a replica with the keys of another node. Connections that track keys learn that any key may have changed.</summary>
    public void CopyFrom(VirtualRedis master)
    {
        _entries.Clear();
        foreach ((string key, RedisEntry entry) in master._entries)
        {
            _entries.Add(key, entry.Copy());
        }

        _changed.Clear();
        foreach (RedisSession session in _sessions.Where(session => session.Prefixes is not null))
        {
            session.Write(">2\r\n$10\r\ninvalidate\r\n_\r\n");
        }

        _nextExpiration = 0;
        BeginTurn();
    }

    /// <summary>Moves a key to another node, as MIGRATE does.</summary>
    public void MoveTo(VirtualRedis target, string key)
    {
        if (_entries.Remove(key, out RedisEntry? entry))
        {
            target._entries[key] = entry;
            target.NoteMoved(key, entry);
            NoteMoved(key, null);
        }
    }

    public void PublishFromBus(string channel, byte[] message)
    {
        Publish(channel, message);
        BeginTurn();
    }

    public override void Accept(VirtualConnection connection)
    {
        var session = new RedisSession(connection, ++_nextId);
        connection.Session = session;
        _sessions.Add(session);
        Counters.Connections++;
        _owedTicks += Costs.AcceptTicks;
    }

    public override void Receive(VirtualConnection connection, byte[]? bytes)
    {
        if (connection.Session is not RedisSession session)
        {
            return;
        }

        if (bytes is null)
        {
            session.IsClosed = true;
            _sessions.Remove(session);
            connection.CloseFromServer();
            return;
        }

        Requested?.Invoke(connection.Machine);
        session.Input.AddRange(bytes);
        if (!session.HasInput)
        {
            session.HasInput = true;
            _ready.Add(session);
        }

        BeginTurn();
    }

    public override void Crash()
    {
        base.Crash();
        _sessions.ForEach(session => session.IsClosed = true);
        _sessions.Clear();
        _ready.Clear();
        _changed.Clear();
        _readers.Clear();
        _scripts.Clear();
        _busyUntil = 0;
        _hasTurn = false;
        if (!IsDurable && Cluster is null)
        {
            ForgetAll();
        }
    }

    /// <summary>Loses all keys, as a restart without a file does. Only the rules learn of it: no connection is left.</summary>
    public void ForgetAll()
    {
        foreach (string key in _entries.Keys.ToArray())
        {
            _entries.Remove(key);
            Changed?.Invoke(key, null, null);
        }
    }

    /// <summary>Executes a command outside of a connection, for the comparison with a real server.</summary>
    public byte[] Execute(RedisSession session, params string[] words)
    {
        Run(session, [.. words.Select(Encoding.UTF8.GetBytes)]);
        Broadcast();
        byte[] reply = [.. session.Output];
        session.Output.Clear();
        return reply;
    }

    private void BeginTurn()
    {
        if (!_hasTurn)
        {
            _hasTurn = true;
            long wait = Math.Max((long)(Random.Between(50, 300) * Slowness), _busyUntil - World.Now);
            World.Schedule(this, wait, static server => ((VirtualRedis)server!).Turn(), this);
        }
    }

    private void Turn()
    {
        _hasTurn = false;
        long ticks = 0;
        RedisSession[] ready = [.. _ready];
        _ready.Clear();
        Array.Sort(ready, static (one, other) => one.Id.CompareTo(other.Id));
        foreach (RedisSession session in ready)
        {
            session.HasInput = false;
            if (session.IsClosed)
            {
                continue;
            }

            SentAt = session.Connection!.Up.SentAt;
            ticks += Costs.ReadTicks;
            while (session.TryRead(out byte[][]? words))
            {
                ticks += Costs.CommandTicks;
                Counters.Commands++;
                Run(session, words);
            }
        }

        Expire();
        ticks += Broadcast();
        ticks += Costs.SendTicks * _sessions.Count(static session => session.Output.Count > 0);
        ticks = (long)((ticks + _owedTicks) * Slowness);
        _owedTicks = 0;
        _busyUntil = World.Now + ticks;
        Counters.BusyTicks += ticks;
        World.Schedule(this, ticks, static server => ((VirtualRedis)server!).Send(), this);
    }

    private void Send()
    {
        foreach (RedisSession session in _sessions)
        {
            if (session.Output.Count > 0)
            {
                session.Connection!.Down.Send([.. session.Output]);
                session.Output.Clear();
            }
        }
    }

    // The keys that changed in this turn, for each connection that tracks them, except those that it changed itself (NOLOOP). Returns the time
    // that it takes.
    private long Broadcast()
    {
        long ticks = 0;
        if (World.Twin == Twins.DelaysMessages && _changed.Count > 0)
        {
            _delayedUntil = _delayedUntil > 0 ? _delayedUntil : World.Now + (TimeSpan.TicksPerSecond / 2);
            if (World.Now < _delayedUntil)
            {
                World.Schedule(this, _delayedUntil - World.Now, static server => ((VirtualRedis)server!).BeginTurn(), this);
                return 0;
            }

            _delayedUntil = 0;
        }

        if (_changed.Count > 0)
        {
            foreach (RedisSession session in _sessions)
            {
                if (session.Prefixes is { } prefixes)
                {
                    string[] keys =
                    [
                        .. _changed
                            .Where(change => !(session.IsNoLoop && change.By == session) && !IsHidden(change.Key, session)
                                && (TracksByKey ? session.Told.Contains(change.Key) : prefixes.Exists(prefix => change.Key.StartsWith(prefix, StringComparison.Ordinal))))
                            .Select(change => change.Key)
                            .Distinct(StringComparer.Ordinal),
                    ];
                    session.Told.Clear();
                    if (keys.Length > 0)
                    {
                        int before = session.Output.Count;
                        session.Write($">2\r\n$10\r\ninvalidate\r\n*{keys.Length}\r\n");
                        foreach (string key in keys)
                        {
                            session.WriteBulk(key);
                        }

                        Counters.OnPush(keys.Length, session.Output.Count - before);
                        ticks += Costs.KeyTicks * keys.Length;
                    }
                }
            }

            _changed.Clear();
        }

        return ticks;
    }

    // Tracking by keys forgets the readers of a key when it changes: a reader that reads it again is noted again. A machine keeps the value that it
    // writes with its expiration. Redis forgets that machine, too, so in production it would have to read the value again.
    private void NoteReader(RedisSession session, string key)
    {
        if (TracksByKey && session.Prefixes is { } prefixes && prefixes.Exists(prefix => key.StartsWith(prefix, StringComparison.Ordinal)))
        {
            if (!_readers.TryGetValue(key, out HashSet<RedisSession>? readers))
            {
                _readers.Add(key, readers = []);
            }

            Counters.Tracked += readers.Add(session) ? 1 : 0;
        }
    }

    private void TellReaders(string key)
    {
        if (_readers.Remove(key, out HashSet<RedisSession>? readers))
        {
            Counters.Tracked -= readers.Count;
            foreach (RedisSession reader in readers)
            {
                reader.Told.Add(key);
            }
        }
    }

    // The broken twin does not tell a connection of a change of a key that it has just changed itself.
    private bool IsHidden(string key, RedisSession session) => World.Twin == Twins.HidesSimultaneousChanges
        && _changedAt.TryGetValue((key, session), out long at) && World.Now - at < 5 * TimeSpan.TicksPerMillisecond;

    private void Expire()
    {
        if (MonotonicMs < _nextExpiration)
        {
            return;
        }

        _nextExpiration = long.MaxValue;
        foreach ((string key, RedisEntry entry) in _entries.ToArray())
        {
            if (entry.ExpiresAt <= MonotonicMs)
            {
                Remove(key, by: null);
            }
            else
            {
                _nextExpiration = Math.Min(_nextExpiration, entry.ExpiresAt);
            }
        }
    }

    private RedisEntry? Find(string key)
    {
        if (_entries.TryGetValue(key, out RedisEntry? entry) && entry.ExpiresAt <= MonotonicMs)
        {
            Remove(key, by: null);
            return null;
        }

        return entry;
    }

    private void Note(string key, RedisEntry? entry, RedisSession? by)
    {
        _changed.Add((key, by));
        TellReaders(key);
        _nextExpiration = Math.Min(_nextExpiration, entry?.ExpiresAt ?? long.MaxValue);
        if (World.Twin == Twins.HidesSimultaneousChanges && by is not null)
        {
            _changedAt[(key, by)] = World.Now;
        }

        Changed?.Invoke(key, entry, by?.Connection?.Machine);
        Cluster?.OnChanged(this, key, entry);
    }

    // The key's value stays the same: the rules learn of nothing.
    private void NoteMoved(string key, RedisEntry? entry)
    {
        _changed.Add((key, null));
        TellReaders(key);
        _nextExpiration = 0;
        Cluster!.OnChanged(this, key, entry);
        BeginTurn();
    }

    private bool Remove(string key, RedisSession? by)
    {
        if (World.Twin == Twins.RestoresRemoved && by is not null && _entries.TryGetValue(key, out RedisEntry? old) && old.Fields.ContainsKey("data"))
        {
            World.Schedule(TimeSpan.TicksPerSecond, () => _entries[key] = old);
        }

        if (!_entries.Remove(key))
        {
            if (!Tracks && by?.Connection is { } connection)
            {
                Changed?.Invoke(key, null, connection.Machine); // The machine publishes that.
            }

            return false;
        }

        Note(key, null, by);
        return true;
    }

    private void Run(RedisSession session, byte[][] words)
    {
        string command = Text(words[0]).ToUpperInvariant();
        bool isAsking = session.IsAsking;
        session.IsAsking = false;
        if (Cluster is { } cluster && !session.IsExecuting && KeysOf(command, words) is { Length: > 0 } keys
            && cluster.Refusal(this, keys, isAsking) is { } refusal)
        {
            session.IsAborted |= session.Queued is not null;
            session.Write($"-{refusal}\r\n");
            return;
        }

        if (session.Queued is { } waiting && command is not ("EXEC" or "DISCARD"))
        {
            waiting.Add(words);
            session.Write("+QUEUED\r\n");
            return;
        }

        switch (command)
        {
            case "MULTI":
                session.Queued = [];
                session.Write("+OK\r\n");
                break;
            case "EXEC":
                List<byte[][]> commands = session.Queued!;
                session.Queued = null;
                if (session.IsAborted)
                {
                    session.IsAborted = false;
                    session.Write("-EXECABORT Transaction discarded because of previous errors.\r\n");
                    break;
                }

                session.Write($"*{commands.Count}\r\n");
                session.IsExecuting = true;
                commands.ForEach(queued => Run(session, queued));
                session.IsExecuting = false;
                break;
            default:
                RunNow(session, command, [.. words.Skip(1).Select(Text)], words);
                break;
        }
    }

    private void RunNow(RedisSession session, string command, string[] words, byte[][] raw)
    {
        switch (command)
        {
            case "ASKING":
                session.IsAsking = true;
                session.Write("+OK\r\n");
                break;
            case "CLUSTER":
                session.Write(Cluster!.DescribeSlots(this));
                break;
            case "PING":
                session.Write("+PONG\r\n");
                break;
            case "HELLO":
                session.Write(
                    "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.4.0\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n"
                    + $":{session.Id}\r\n$4\r\nmode\r\n{(Cluster is null ? "$10\r\nstandalone" : "$7\r\ncluster")}\r\n$4\r\nrole\r\n"
                    + $"{(Cluster?.IsMaster(this) == false ? "$7\r\nreplica" : "$6\r\nmaster")}\r\n$7\r\nmodules\r\n*0\r\n");
                break;
            case "CLIENT":
                RunClient(session, words);
                break;
            case "SUBSCRIBE":
                session.Channels.Add(words[0]);
                session.Write($">3\r\n$9\r\nsubscribe\r\n${words[0].Length}\r\n{words[0]}\r\n:{session.Channels.Count}\r\n");
                break;
            case "PUBLISH":
                session.Write($":{Publish(words[0], raw[2])}\r\n");
                Cluster?.OnPublished(this, words[0], raw[2]);
                break;
            case "EXISTS":
                session.Write($":{words.Count(key => Find(key) is not null)}\r\n");
                break;
            case "DEL" or "UNLINK":
                session.Write($":{words.Count(key => Find(key) is not null && Remove(key, session))}\r\n");
                break;
            case "GET":
                session.WriteBulk(Find(words[0])?.Text);
                break;
            case "SET":
                Set(session, words, raw[2]);
                break;
            case "HMGET":
                session.Write($"*{words.Length - 1}\r\n");
                RedisEntry? read = Find(words[0]);
                NoteReader(session, words[0]);
                foreach (string field in words[1..])
                {
                    session.WriteBulk(read?.Fields.GetValueOrDefault(field));
                }

                break;
            case "HSET":
                session.Write($":{SetFields(session, words, raw)}\r\n");
                break;
            case "PEXPIRE":
                session.Write($":{Pexpire(session, words[0], long.Parse(words[1], CultureInfo.InvariantCulture))}\r\n");
                break;
            case "PERSIST":
                session.Write($":{Persist(session, words[0])}\r\n");
                break;
            case "PTTL":
                RedisEntry? living = Find(words[0]);
                session.Write($":{(living is null ? -2 : living.ExpiresAt == long.MaxValue ? -1 : living.ExpiresAt - MonotonicMs)}\r\n");
                break;
            case "EVAL":
#pragma warning disable CA5350 // Redis names scripts by their SHA-1.
                _scripts[Convert.ToHexStringLower(SHA1.HashData(raw[1]))] = words[0];
#pragma warning restore CA5350
                RunScript(session, words[0], words, raw);
                break;
            case "EVALSHA":
                if (_scripts.TryGetValue(words[0], out string? script))
                {
                    RunScript(session, script, words, raw);
                }
                else
                {
                    session.Write("-NOSCRIPT No matching script. Please use EVAL.\r\n");
                }

                break;
            default:
                session.Write($"-ERR unknown command '{command}', with args beginning with: \r\n");
                break;
        }
    }

    private void RunClient(RedisSession session, string[] words)
    {
        switch (words[0].ToUpperInvariant())
        {
            case "SETNAME" or "SETINFO":
                session.Write("+OK\r\n");
                break;
            case "ID":
                session.Write($":{session.Id}\r\n");
                break;
            case "TRACKINGINFO" when Tracks:
                session.Write("%3\r\n$5\r\nflags\r\n~1\r\n$3\r\noff\r\n$8\r\nredirect\r\n:-1\r\n$8\r\nprefixes\r\n*0\r\n");
                break;
            case "TRACKING" when Tracks && words[1].Equals("OFF", StringComparison.OrdinalIgnoreCase):
                session.Prefixes = null;
                session.Write("+OK\r\n");
                break;
            case "TRACKING" when Tracks:
                session.IsNoLoop = words.Contains("NOLOOP", StringComparer.OrdinalIgnoreCase);
                session.Prefixes = [];
                for (int i = 2; i + 1 < words.Length; i++)
                {
                    if (words[i].Equals("PREFIX", StringComparison.OrdinalIgnoreCase))
                    {
                        session.Prefixes.Add(words[++i]);
                    }
                }

                session.Write("+OK\r\n");
                break;
            default:
                session.Write($"-ERR unknown subcommand '{words[0]}'. Try CLIENT HELP.\r\n");
                break;
        }
    }

    private int Publish(string channel, byte[] message)
    {
        RedisSession[] receivers = [.. _sessions.Where(session => session.Channels.Contains(channel))];
        foreach (RedisSession receiver in receivers)
        {
            int before = receiver.Output.Count;
            receiver.Write(">3\r\n$7\r\nmessage\r\n");
            receiver.WriteBulk(channel);
            receiver.WriteBulk(message);
            Counters.OnPush(keys: 1, receiver.Output.Count - before);
            _owedTicks += Costs.KeyTicks;
        }

        return receivers.Length;
    }

    private void Set(RedisSession session, string[] words, byte[] value)
    {
        bool onlyIfMissing = words.Skip(2).Contains("NX", StringComparer.OrdinalIgnoreCase);
        if (onlyIfMissing && Find(words[0]) is not null)
        {
            session.Write("_\r\n");
            return;
        }

        int px = Array.FindIndex(words, 2, word => word.Equals("PX", StringComparison.OrdinalIgnoreCase));
        var entry = new RedisEntry { Text = value };
        if (px >= 0)
        {
            entry.ExpiresAt = MonotonicMs + long.Parse(words[px + 1], CultureInfo.InvariantCulture);
        }

        _entries[words[0]] = entry;
        Note(words[0], entry, session);
        session.Write("+OK\r\n");
    }

    private int SetFields(RedisSession session, string[] words, byte[][] raw)
    {
        RedisEntry? entry = Find(words[0]);
        if (entry is null)
        {
            _entries[words[0]] = entry = new RedisEntry();
        }

        int added = 0;
        for (int i = 1; i + 1 < words.Length; i += 2)
        {
            added += entry.Fields.ContainsKey(words[i]) ? 0 : 1;
            entry.Fields[words[i]] = raw[i + 2];
        }

        Note(words[0], entry, session);
        return added;
    }

    private int Pexpire(RedisSession session, string key, long lifeMs)
    {
        if (Find(key) is not { } entry)
        {
            return 0;
        }

        entry.ExpiresAt = MonotonicMs + lifeMs;
        Note(key, entry, session);
        NoteReader(session, key);
        return 1;
    }

    private int Persist(RedisSession session, string key)
    {
        if (Find(key) is not { } entry || entry.ExpiresAt == long.MaxValue)
        {
            return 0;
        }

        entry.ExpiresAt = long.MaxValue;
        Note(key, entry, session);
        return 1;
    }

    // The two scripts of Cairn.Redis.Leasing, recognized by what only one of them says.
    private void RunScript(RedisSession session, string script, string[] words, byte[][] raw)
    {
        int keys = int.Parse(words[1], CultureInfo.InvariantCulture);
        string[] key = words[2..(2 + keys)];
        string[] argument = words[(2 + keys)..];
        byte[][] rawArgument = raw[(3 + keys)..];
        if (script.Contains("ARGV[3] == '1'", StringComparison.Ordinal))
        {
            session.Write($":{Acquire()}\r\n");
        }
        else
        {
            session.Write($":{RunIfHeld()}\r\n");
        }

        int Acquire()
        {
            if (argument[2] == "1" && Find(key[0]) is not null)
            {
                return 2;
            }

            if (Find(key[1]) is not null && World.Twin != Twins.SharesLeases)
            {
                return 0;
            }

            var lease = new RedisEntry { Text = rawArgument[0], ExpiresAt = MonotonicMs + long.Parse(argument[1], CultureInfo.InvariantCulture) };
            _entries[key[1]] = lease;
            Note(key[1], lease, session);
            return 1;
        }

        int RunIfHeld()
        {
            if (!Holds(key[0], rawArgument[0]))
            {
                return 0;
            }

            for (int at = 1; at < argument.Length; at++)
            {
                int end = at + int.Parse(argument[at], CultureInfo.InvariantCulture);
                RunInScript(session, argument[(at + 1)..(end + 1)], rawArgument[(at + 1)..(end + 1)]);
                at = end;
            }

            return 1;
        }

        bool Holds(string lease, byte[] owner) => Find(lease)?.Text is { } text && text.AsSpan().SequenceEqual(owner);
    }

    private void RunInScript(RedisSession session, string[] words, byte[][] raw)
    {
        switch (words[0])
        {
            case "HSET":
                SetFields(session, words[1..], raw);
                break;
            case "PEXPIRE":
                Pexpire(session, words[1], long.Parse(words[2], CultureInfo.InvariantCulture));
                break;
            case "PERSIST":
                Persist(session, words[1]);
                break;
            case "DEL" or "UNLINK" when World.Twin != Twins.KeepsLeases:
                Array.ForEach(words[1..], key => Remove(key, session));
                break;
            case "DEL" or "UNLINK":
                break;
            case "PUBLISH":
                Publish(words[1], raw[2]);
                Cluster?.OnPublished(this, words[1], raw[2]);
                break;
            default:
                throw new NotSupportedException($"The model has no {words[0]} in a script.");
        }
    }

    private static string[] KeysOf(string command, byte[][] words) => command switch
    {
        "EXISTS" or "DEL" or "UNLINK" => [.. words[1..].Select(Text)],
        "GET" or "SET" or "HMGET" or "HSET" or "PEXPIRE" or "PERSIST" or "PTTL" => [Text(words[1])],
        "EVAL" or "EVALSHA" => [.. words[3..(3 + int.Parse(Text(words[2]), CultureInfo.InvariantCulture))].Select(Text)],
        _ => [],
    };

    private static string Text(byte[] word) => Encoding.Latin1.GetString(word);
}
