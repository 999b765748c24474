// Cairn's own server: real sessions of Cairn.Server over a real store file. Only their connections, their clock and their turns are of the simulator.
//
// A turn executes what a connection has sent, request by request, as its worker does. Messages of other connections reach it in turns of their
// own, as if every connection had a worker. A crash leaves the file as a killed process does: the next life opens a copy of it, which was made
// while the store was open.
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Commands;
using Cairn.Simulation.Machines;
using Cairn.Simulation.Network;
using Cairn.Simulation.Rules;
using Cairn.Simulation.Scheduling;
using Cairn.Testing;

namespace Cairn.Simulation.Servers;

#pragma warning disable CA1001 // End releases the fields.
internal sealed class VirtualCairn : VirtualServer
#pragma warning restore CA1001
{
    private readonly TestDirectory _directory = new(TestDirectory.OfMemory);
    private readonly CommandTable _commands;
    private readonly bool _tracks;
    private readonly string[] _keys;
    private readonly ulong[] _versions; // Of the entries of _keys; 0 for none.
    private readonly BlockPool _pool = new(new MemoryAccount(long.MaxValue));
    private readonly OutputArena _arena;
    private CairnStore? _store;
    private RespServer? _server;
    private CairnConnection? _observer;
    private long _lastId;
    private int _files;

    public VirtualCairn(World world, string name, SeededRandom random, int keys, bool tracks, bool knowsScripts)
        : base(world, name, random)
    {
        _tracks = tracks;
        _commands = knowsScripts ? RespCommands.Table : new CommandTable(RespCommands.Table.All, scripts: []);
        _arena = new OutputArena(_pool);
        _keys =
        [
            .. Enumerable.Range(0, keys).Select(key => RuleBook.Values + key.ToString(CultureInfo.InvariantCulture)),
            .. Enumerable.Range(0, keys).Select(Source.TagOf).Distinct(StringComparer.Ordinal).Select(tag => RuleBook.Stamps + tag),
            .. Enumerable.Range(0, keys).Select(key => string.Create(CultureInfo.InvariantCulture, $"{RuleBook.Leases}{{{RuleBook.Values}{key}}}")),
            RuleBook.Era,
        ];
        _versions = new ulong[_keys.Length];
        world.RunAt(this, Open);
    }

    /// <summary>Gets the sessions' server.</summary>
    public RespServer Sessions => _server!;

    public OutputArena Arena => _arena;

    public override IEnumerable<string> KeyNames
    {
        get
        {
            string[] names = [];
            if (_store is not null)
            {
                World.RunAt(this, () => names = [.. Ask("KEYS *\r\n").Split("\r\n").Where(line => line.StartsWith('c')).Order(StringComparer.Ordinal)]);
            }

            return names;
        }
    }

    public override void Accept(VirtualConnection connection) =>
        World.RunAt(this, () => connection.Session = new CairnConnection(this, connection, ++_lastId));

    public override void Receive(VirtualConnection connection, byte[]? bytes)
    {
        if (bytes is not null)
        {
            Requested?.Invoke(connection.Machine);
        }

        (connection.Session as CairnConnection)?.Receive(bytes);
    }

    /// <summary>Another client removes the key.</summary>
    public override void Evict(string key) => World.RunAt(this, () =>
    {
        Ask($"DEL {key}\r\n");
        FindChanges(by: null, World.Now);
    });

    public override void Crash()
    {
        base.Crash();
        string file = _store!.Path;
        string next = NextFile();
        if (IsDurable)
        {
            File.Copy(file, next);
        }

        Close();
        File.Delete(file);
        if (!IsDurable)
        {
            for (int i = 0; i < _keys.Length; i++)
            {
                if (_versions[i] != 0)
                {
                    _versions[i] = 0;
                    Changed?.Invoke(_keys[i], null, null);
                }
            }
        }
    }

    public override void Restart()
    {
        if (_store is null)
        {
            World.RunAt(this, Open);
        }
    }

    public override void End()
    {
        if (_store is not null)
        {
            World.RunAt(this, Close);
        }

        _arena.Trim();
        _pool.Clear();
        _directory.Dispose();
    }

    /// <summary>Lets the rules learn of the changes that a request has made, and of the removals of missing keys of which the server sends a message.</summary>
    public void FindChanges(Place? by, long sentAt)
    {
        SentAt = sentAt;
        string messages = _observer!.TakeMessages();
        for (int i = 0; i < _keys.Length; i++)
        {
            ulong version = _observer.Keys.TryGetInfo(Encoding.ASCII.GetBytes(_keys[i]), out EntryInfo info) ? info.Version : 0;
            if (version != _versions[i] || (version == 0 && messages.Contains($"{_keys[i]}\r\n", StringComparison.Ordinal)))
            {
                _versions[i] = version;
                Changed?.Invoke(_keys[i], version == 0 ? null : EntryOf(_keys[i]), by);
            }
        }
    }

    private RedisEntry EntryOf(string key)
    {
        var entry = new RedisEntry();
        if (!key.StartsWith(RuleBook.Leases, StringComparison.Ordinal))
        {
            entry.Fields["data"] = Encoding.Latin1.GetBytes(Ask($"HGET {key} data\r\n"));
        }

        return entry;
    }

    private void Open()
    {
        _store = CairnStore.Open(new StoreOptions
        {
            Path = _directory[CurrentFile()],
            CapacityBytes = StoreLimits.MinCapacityBytes,
            ReservesSpace = false,
            FlushOnClose = false,
            RemovesExpired = false, // The sweep has a timer of the runtime.
            TimeProvider = MachineClock.Instance,
        });
        _server = new RespServer(_store, _commands, MachineClock.Instance);
        _observer = new CairnConnection(this, connection: null, ++_lastId);
        Ask("HELLO 3\r\n");
        Ask(_tracks ? "CLIENT TRACKING ON BCAST\r\n" : "PSUBSCRIBE cairn:*\r\n");
    }

    private void Close()
    {
        _server!.Dispose();
        _store!.Dispose();
        (_store, _server, _observer) = (null, null, null);
    }

    private string CurrentFile() => string.Create(CultureInfo.InvariantCulture, $"store{_files}.cairn");

    private string NextFile()
    {
        _files++;
        return _directory[CurrentFile()];
    }

    private string Ask(string request) => _observer!.Ask(Encoding.Latin1.GetBytes(request));
}

/// <summary>A connection of <see cref="VirtualCairn"/>, with its real session.</summary>
internal sealed class CairnConnection : RespPeer
{
    // An input of this length makes a worker look ahead.
    private const int LooksAheadFrom = 100;

    private readonly VirtualCairn _server;
    private readonly VirtualConnection? _connection;
    private readonly RespSession _session;
    private readonly OutputBuffer _output;
    private readonly List<byte> _input = [];
    private readonly Queue<Action<OutputBuffer>> _posts = new();
    private bool _hasTurn;
    private bool _hasPosts;
    private bool _isWaiting;
    private bool _isClosing;
    private bool _isClosed;

    public CairnConnection(VirtualCairn server, VirtualConnection? connection, long id)
    {
        _server = server;
        _connection = connection;
        Id = id;
        Held = new HeldMemory(new BlockPool(new MemoryAccount(long.MaxValue)), replies: null);
        _output = new OutputBuffer(server.Arena);
        _session = new RespSession(server.Sessions, this);
    }

    public override long Id { get; }

    public override string Remote => _connection?.Machine.Name ?? "observer";

    public override TimeSpan Age => TimeSpan.Zero;

    public override TimeSpan IdleTime => TimeSpan.Zero;

    public override HeldMemory Held { get; }

    public KeySpace Keys => _session.Keys;

    public override void Post(Action<OutputBuffer> write)
    {
        _posts.Enqueue(write);
        if (!_hasPosts && _connection is not null)
        {
            _hasPosts = true;
            Schedule(static connection => connection.RunPosts());
        }
    }

    public override void PostAfterEnd(Action action) => _server.World.Schedule(_server, Wait(), static action => ((Action)action!)(), action);

    public override void BeginWait() => _isWaiting = true;

    public override void Resume()
    {
        _isWaiting = false;
        BeginTurn();
    }

    public override void Close(CloseReason reason) => _isClosing = true;

    /// <summary>Takes bytes of the machine; null for its end.</summary>
    public void Receive(byte[]? bytes)
    {
        if (_isClosed)
        {
            return;
        }

        if (bytes is null)
        {
            End(CloseReason.ClosedByClient);
            return;
        }

        _input.AddRange(bytes);
        BeginTurn();
    }

    /// <summary>Executes a request of the simulator, and returns its reply.</summary>
    public string Ask(ReadOnlySpan<byte> request)
    {
        while (_session.Execute(request, _output, budget: 1) == 0)
        {
            // A long command pauses between its pieces.
        }

        string reply = Encoding.Latin1.GetString(_output.ToArray());
        _output.Clear();
        return reply;
    }

    /// <summary>Returns the messages since the last call.</summary>
    public string TakeMessages()
    {
        while (_posts.TryDequeue(out Action<OutputBuffer>? write))
        {
            write(_output);
        }

        string messages = Encoding.Latin1.GetString(_output.ToArray());
        _output.Clear();
        return messages;
    }

    private void BeginTurn()
    {
        if (!_hasTurn)
        {
            _hasTurn = true;
            Schedule(static connection => connection.Turn());
        }
    }

    private void Turn()
    {
        _hasTurn = false;
        if (_isClosed)
        {
            return;
        }

        if (_input.Count >= LooksAheadFrom && CanExecute())
        {
            _session.Prefetch(CollectionsMarshal.AsSpan(_input));
            _session.PrefetchFurther();
        }

        while (CanExecute())
        {
            int consumed = _session.Execute(CollectionsMarshal.AsSpan(_input), _output, budget: 1);
            _input.RemoveRange(0, consumed);
            _server.FindChanges(_connection!.Machine, _connection.Up.SentAt);
            if (_session.HasUnfinishedRequest || _output.IsFull)
            {
                BeginTurn();
                break;
            }

            if (consumed == 0)
            {
                break;
            }
        }

        Send();
    }

    private bool CanExecute() => _input.Count > 0 && _input.Count >= _session.NeededBytes && !_isWaiting && !_isClosing && !_output.IsFull;

    private void RunPosts()
    {
        _hasPosts = false;
        while (!_isClosed && _posts.TryDequeue(out Action<OutputBuffer>? write))
        {
            write(_output);
        }

        Send();
    }

    private void Send()
    {
        if (_output.UnsentBytes > 0)
        {
            _connection!.Down.Send(_output.ToArray());
            _output.Clear();
        }

        if (_isClosing)
        {
            End(CloseReason.ClosedBySession);
        }
    }

    private void End(CloseReason reason)
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _session.OnClosed(reason);
            _output.Clear();
            _connection!.CloseFromServer();
        }
    }

    private long Wait() => (long)(_server.Random.Between(50, 300) * _server.Slowness);

    private void Schedule(Action<CairnConnection> work) => _server.World.Schedule(
        _server,
        Wait(),
        static state =>
        {
            (CairnConnection connection, Action<CairnConnection> work) = ((CairnConnection, Action<CairnConnection>))state!;
            work(connection);
        },
        (this, work));
}
