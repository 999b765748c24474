using System.Collections.Concurrent;
using System.Text;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Commands;

namespace Cairn.Server.Tests.Resp;

/// <summary>A store and sessions on it, without sockets.</summary>
internal sealed class RespHost : IDisposable
{
    private readonly StoreDirectory _directory = new();
    private long _lastId;

    public RespHost(TimeProvider? clock = null, int maxValueBytes = int.MaxValue, int maxKeyBytes = KeySpace.MaxKeyBytes)
    {
        Store = CairnStore.Open(new StoreOptions
        {
            Path = _directory.FilePath,
            CapacityBytes = 32 << 20,
            FlushOnClose = false,
            RemovesExpired = false,
            TimeProvider = clock ?? TimeProvider.System,
        });
        Server = new RespServer(Store, RespCommands.Table, clock) { MaxValueBytes = maxValueBytes, MaxKeyBytes = maxKeyBytes };
    }

    public string Path => _directory.FilePath;

    public CairnStore Store { get; }

    public RespServer Server { get; }

    public RespClient Connect(bool looksAhead = true, int? fullAt = null, ConnectionLimits? limits = null) =>
        new(this, Interlocked.Increment(ref _lastId), fullAt, limits) { LooksAhead = looksAhead };

    public void Dispose()
    {
        Server.Dispose();
        Store.Dispose();
        _directory.Dispose();
    }
}

/// <summary>A client of a <see cref="RespHost"/>: its session and its output.</summary>
internal sealed class RespClient : RespPeer
{
    private readonly RespSession _session;
    private readonly OutputBuffer _output;
    private readonly ConcurrentQueue<Action<OutputBuffer>> _posts = new();
    private volatile bool _isAwake;
    private bool _isWaiting;

    // The input that has arrived, and the number of its bytes that were executed. With a long input, moving the rest after each turn takes most of the time.
    private byte[] _arrived = [];
    private int _executed;

    public RespClient(RespHost host, long id, int? fullAt, ConnectionLimits? limits)
    {
        var arena = new OutputArena(new BlockPool(new MemoryAccount(long.MaxValue)));
        arena.FullAt = fullAt ?? arena.FullAt;
        _output = new OutputBuffer(arena);
        Limits = limits ?? base.Limits;
        Id = id;
        _session = new RespSession(host.Server, this);
    }

    public RespSession Session => _session;

    public override long Id { get; }

    public override string Remote => $"127.0.0.1:{40_000 + Id}";

    public override TimeSpan Age => TimeSpan.Zero;

    public override TimeSpan IdleTime => TimeSpan.Zero;

    public override HeldMemory Held { get; } = new();

    public override ConnectionLimits Limits { get; }

    /// <summary>Gets the number of reply bytes that were not taken.</summary>
    public long UnsentBytes => _output.UnsentBytes;

    public CloseReason ClosedFor { get; private set; }

    /// <summary>Gets whether the session may look ahead, as when more than a short request has arrived.</summary>
    public bool LooksAhead { get; init; } = true;

    public override void Post(Action<OutputBuffer> write) => _posts.Enqueue(write);

    public override void PostAfterEnd(Action action) => _posts.Enqueue(_ => action());

    public override void BeginWait() => _isWaiting = true;

    public override void Resume()
    {
        IsResumed = true;
        _isAwake = true;
    }

    /// <summary>Gets whether the session requested execution of the input that has arrived.</summary>
    public bool IsResumed { get; private set; }

    public override void Close(CloseReason reason) => ClosedFor = reason;

    /// <summary>Sends lines, each ended with CR LF, and returns all replies.</summary>
    public string Run(params string[] lines) => Send(string.Concat(lines.Select(line => line + "\r\n")));

    /// <summary>Sends bytes, each given as a character, and returns all replies.</summary>
    public string Send(string bytes) => Send(Encoding.Latin1.GetBytes(bytes), bytes.Length);

    /// <summary>Sends bytes in pieces and returns all replies.</summary>
    public string Send(byte[] bytes, int pieceBytes)
    {
        var text = new StringBuilder();
        for (int start = 0; start == 0 || start < bytes.Length; start += Math.Max(pieceBytes, 1))
        {
            _arrived = [.. _arrived.AsSpan(_executed), .. bytes.AsSpan(start, Math.Min(pieceBytes, bytes.Length - start))];
            _executed = 0;
            int consumed;
            while (_executed < _arrived.Length && ClosedFor == CloseReason.None
                && ((consumed = Execute(_arrived.AsSpan(_executed), budget: 3)) > 0 || _output.IsFull || _session.HasUnfinishedRequest))
            {
                _executed += consumed;
                if (_isWaiting && _session.HasUnfinishedRequest)
                {
                    Assert.True(SpinWait.SpinUntil(() => _isAwake, TimeSpan.FromSeconds(30)));
                    _isWaiting = _isAwake = false;
                }

                if (_output.IsFull)
                {
                    text.Append(Written()); // Simulates a client that reads.
                }
            }
        }

        return text.Append(Take()).ToString();
    }

    /// <summary>Executes input as the engine does. The replies stay in the output.</summary>
    public int Execute(ReadOnlySpan<byte> input, int budget)
    {
        if (LooksAhead)
        {
            _session.Prefetch(input);
            _session.PrefetchFurther();
        }

        return _session.Execute(input, _output, budget);
    }

    /// <summary>Discards the replies.</summary>
    public void Drop()
    {
        RunPosts();
        _output.Clear();
    }

    // Does what the engine does in the connection's next turn.
    private void RunPosts()
    {
        while (_posts.TryDequeue(out Action<OutputBuffer>? write))
        {
            write(_output);
        }
    }

    /// <summary>Returns the replies since the last call.</summary>
    public string Take()
    {
        RunPosts();
        return Written();
    }

    private string Written()
    {
        string text = Encoding.Latin1.GetString(_output.ToArray());
        _output.Clear();
        return text;
    }

    /// <summary>Ends the connection.</summary>
    public void End() => _session.OnClosed(CloseReason.ClosedByClient);
}
