using System.Net;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

/// <summary>The connection, as its session needs it.</summary>
internal abstract class RespPeer
{
    private static readonly ConnectionLimits s_defaultLimits = new();

    public abstract long Id { get; }

    /// <summary>The client's address in words.</summary>
    public abstract string Remote { get; }

    /// <summary>The client's address; null if there is none.</summary>
    public virtual IPAddress? Address => null;

    public abstract DateTimeOffset ConnectedAt { get; }

    public abstract TimeSpan IdleTime { get; }

    /// <summary>Has the connection's worker run this soon, and send what it writes. Any thread. A delegate that is given again and
    /// again costs no allocation.</summary>
    public abstract void Post(Action<OutputBuffer> write);

    /// <summary>Executes nothing more until <see cref="Resume"/>: the request at hand waits for another thread.</summary>
    public abstract void BeginWait();

    /// <summary>Has what has arrived executed soon, though nothing more did. Any thread.</summary>
    public abstract void Resume();

    /// <summary>What the session holds.</summary>
    public abstract HeldMemory Held { get; }

    /// <summary>What the client may cost.</summary>
    public virtual ConnectionLimits Limits => s_defaultLimits;

    /// <summary>The address that the client connected to, in words.</summary>
    public virtual string Local => "";

    /// <summary>Bytes that arrived, and that were sent.</summary>
    public virtual (long Received, long Sent) Bytes => (0, 0);

    /// <summary>Bytes of requests that wait, and of replies.</summary>
    public virtual (long Input, long Output) Waiting => (0, 0);

    /// <summary>Ends the connection when what was written has been sent. Any thread.</summary>
    public abstract void Close(CloseReason reason);

    /// <summary>Ends the connection for a request that is not RESP, and tells of it.</summary>
    public virtual void Reject(ReadOnlySpan<byte> request) => Close(CloseReason.ClosedBySession);
}

/// <summary>A connection of the engine.</summary>
internal sealed class ConnectionPeer(ClientConnection connection) : RespPeer
{
    private static readonly Action<ClientConnection> s_resume = connection =>
    {
        connection.Worker.EndWait(connection);
        connection.Worker.MakeReady(connection);
    };

    private volatile Posting? _last;

    public override long Id => connection.Id;

    public override string Remote => connection.RemoteText;

    public override IPAddress? Address => connection.Remote?.Address;

    public override DateTimeOffset ConnectedAt => connection.ConnectedAt;

    public override TimeSpan IdleTime => connection.IdleTime;

    public override void Post(Action<OutputBuffer> write)
    {
        Posting? last = _last;
        if (last?.Write != write)
        {
            _last = last = new Posting(write, there => write(there.Output));
        }

        connection.Post(last.OnConnection);
    }

    public override void BeginWait() => connection.IsWaiting = true;

    public override void Resume() => connection.Post(s_resume);

    public override HeldMemory Held => connection.Held;

    public override ConnectionLimits Limits => connection.Worker.Limits;

    public override (long Received, long Sent) Bytes => (connection.BytesReceived, connection.BytesSent);

    public override (long Input, long Output) Waiting => (connection.WaitingInputBytes, 0);

    public override void Close(CloseReason reason) => connection.Close(reason);

    public override void Reject(ReadOnlySpan<byte> request) => connection.Reject(request);

    // What was posted last, as the connection wants it.
    private sealed record Posting(Action<OutputBuffer> Write, Action<ClientConnection> OnConnection);
}
