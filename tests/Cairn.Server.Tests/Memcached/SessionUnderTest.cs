using System.Text;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Memcached;

namespace Cairn.Server.Tests.Memcached;

/// <summary>A session on a store of its own, without sockets.</summary>
internal sealed class SessionUnderTest : IDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly MemcachedSessions _sessions;
    private readonly OutputBuffer _output = new();
    private byte[] _rest = [];

    public SessionUnderTest(Func<MemcachedOptions, MemcachedOptions>? configure = null, long capacityBytes = 64 << 20)
    {
        Clock = new ManualClock();
        Store = CairnStore.Open(new StoreOptions { Path = _directory.FilePath, CapacityBytes = capacityBytes, TimeProvider = Clock, FlushOnClose = false, RemovesExpired = false });
        var options = new MemcachedOptions { Clock = Clock };
        _sessions = new MemcachedSessions(Store, configure?.Invoke(options) ?? options);
        Session = _sessions.CreateText(connection: null);
    }

    public ManualClock Clock { get; }

    public CairnStore Store { get; }

    public TextSession Session { get; private set; }

    public MemcachedSessions Sessions => _sessions;

    public OutputBuffer Output => _output;

    /// <summary>Gets the number of bytes that were sent and not consumed.</summary>
    public int RestBytes => _rest.Length;

    /// <summary>Creates another connection to the same store.</summary>
    public TextSession CreateAnother() => _sessions.CreateText(connection: null);

    /// <summary>Continues with a new connection.</summary>
    public void Reconnect()
    {
        Session.OnClosed(CloseReason.ClosedByClient);
        Session = _sessions.CreateText(connection: null);
        _rest = [];
        _output.Clear();
    }

    /// <summary>Sends text and returns all replies.</summary>
    public string Send(string text) => Send(Encoding.Latin1.GetBytes(text));

    public string Send(ReadOnlySpan<byte> bytes)
    {
        Add(bytes);
        var reply = new StringBuilder();
        while (Execute(budget: 1000) || _output.UnsentBytes > 0 || Session.HasUnfinishedRequest)
        {
            reply.Append(Read());
        }

        return reply.ToString();
    }

    /// <summary>Adds bytes that wait for execution.</summary>
    public void Add(ReadOnlySpan<byte> bytes) => _rest = [.. _rest, .. bytes];

    /// <summary>Lets the session look ahead over the waiting bytes, if they may be executed.</summary>
    public void LookAhead()
    {
        if (_rest.Length > 0 && _rest.Length >= Session.NeededBytes && !_output.IsFull)
        {
            Session.Prefetch(_rest);
            Session.PrefetchFurther();
        }
    }

    /// <summary>Executes the waiting bytes once, if the session needs no more. Returns false if that consumed nothing.</summary>
    public bool Execute(int budget)
    {
        if (_rest.Length == 0 || _rest.Length < Session.NeededBytes || _output.IsFull || Session.IsEnded)
        {
            return false;
        }

        int consumed = Session.Execute(_rest, _output, budget);
        Assert.InRange(consumed, 0, _rest.Length);
        _rest = _rest[consumed..];
        return consumed > 0;
    }

    /// <summary>Returns the replies since the last call.</summary>
    public string Read()
    {
        string text = Encoding.Latin1.GetString(_output.ToArray());
        _output.Clear();
        return text;
    }

    public void Dispose()
    {
        Session.OnClosed(CloseReason.ClosedByClient);
        Store.Dispose();
        _sessions.Dispose();
        _directory.Dispose();
    }
}
