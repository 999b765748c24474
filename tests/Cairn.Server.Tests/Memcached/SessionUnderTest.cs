using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Memcached;

namespace Cairn.Server.Tests.Memcached;

/// <summary>A session on a store of its own, with bytes in and bytes out.</summary>
internal sealed class SessionUnderTest : IDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly MemcachedSessions _sessions;
    private readonly OutputBuffer _output = new();
    private byte[] _rest = [];

    public SessionUnderTest(Func<MemcachedOptions, MemcachedOptions>? configure = null, long capacityBytes = 64 << 20)
    {
        Clock = new ManualClock();
        Store = CairnStore.Open(new StoreOptions { Path = _directory.FilePath, CapacityBytes = capacityBytes, Clock = Clock, FlushOnClose = false, RemovesExpired = false });
        var options = new MemcachedOptions { Clock = Clock };
        _sessions = new MemcachedSessions(Store, configure?.Invoke(options) ?? options);
        Session = _sessions.CreateDetached();
    }

    public ManualClock Clock { get; }

    public CairnStore Store { get; }

    public MemcachedSession Session { get; private set; }

    public OutputBuffer Output => _output;

    /// <summary>Bytes that were sent and not consumed.</summary>
    public int RestBytes => _rest.Length;

    /// <summary>Another connection to the same store.</summary>
    public MemcachedSession CreateAnother() => _sessions.CreateDetached();

    /// <summary>Goes on with a connection that has said nothing yet.</summary>
    public void Reconnect()
    {
        Session.OnClosed(CloseReason.ClosedByClient);
        Session = _sessions.CreateDetached();
        _rest = [];
        _output.Clear();
    }

    /// <summary>Sends text and reads all that is answered.</summary>
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

    /// <summary>Sends bytes that wait to be executed.</summary>
    public void Add(ReadOnlySpan<byte> bytes) => _rest = [.. _rest, .. bytes];

    /// <summary>Has the session look ahead over what waits, if it may be executed.</summary>
    public void LookAhead()
    {
        if (_rest.Length > 0 && _rest.Length >= Session.NeededBytes && !_output.IsFull)
        {
            Session.Prefetch(_rest);
            Session.PrefetchFurther();
        }
    }

    /// <summary>Executes once what was sent, if the session wants to be called. False if that consumed nothing.</summary>
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

    /// <summary>What was answered since the last time.</summary>
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
