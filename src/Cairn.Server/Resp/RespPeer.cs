using System.Net;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

/// <summary>A connection, as its session sees it.</summary>
internal abstract class RespPeer
{
    private static readonly ConnectionLimits s_defaultLimits = new();

    public abstract long Id { get; }

    /// <summary>Gets the client's address as text.</summary>
    public abstract string Remote { get; }

    /// <summary>Gets the client's address; null if there is none.</summary>
    public virtual IPAddress? Address => null;

    public abstract TimeSpan Age { get; }

    public abstract TimeSpan IdleTime { get; }

    /// <summary>Runs the function on the connection's worker soon, and sends what it writes. Thread-safe. A delegate that is the same as
    /// in the last call is not allocated again.</summary>
    public abstract void Post(Action<OutputBuffer> write);

    /// <summary>Runs the action on the connection's worker soon, even though the connection has ended. Worker only.</summary>
    public abstract void PostAfterEnd(Action action);

    /// <summary>Stops executing requests until <see cref="Resume"/>, because the present request waits for another thread.</summary>
    public abstract void BeginWait();

    /// <summary>Executes the input that has arrived soon, even if no more arrives. Thread-safe.</summary>
    public abstract void Resume();

    /// <summary>Gets the memory that the session holds.</summary>
    public abstract HeldMemory Held { get; }

    /// <summary>Creates the holder of a value whose reply is written as the client reads.</summary>
    public virtual HeldValue CreateSource() => new(null);

    /// <summary>Gets the limits on the client's resources.</summary>
    public virtual ConnectionLimits Limits => s_defaultLimits;

    /// <summary>Gets the address that the client connected to, as text.</summary>
    public virtual string Local => "";

    /// <summary>Gets the descriptor of the connection's socket; -1 if it is not known.</summary>
    public virtual int Descriptor => -1;

    /// <summary>Gets the number of bytes received, and of bytes sent.</summary>
    public virtual (long Received, long Sent) Bytes => (0, 0);

    /// <summary>Gets the number of bytes of waiting requests, and of waiting replies.</summary>
    public virtual (long Input, long Output) Waiting => (0, 0);

    /// <summary>Ends the connection after its output has been sent. Thread-safe.</summary>
    public abstract void Close(CloseReason reason);

    /// <summary>Ends the connection because of a request that is not RESP, and logs that.</summary>
    public virtual void Reject(ReadOnlySpan<byte> request) => Close(CloseReason.ClosedBySession);

    /// <summary>Logs that the client sent a wrong user or password.</summary>
    public virtual void ReportWrongPassword()
    {
    }
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

    public override string Local => connection.LocalText;

    public override int Descriptor => connection.Channel.Descriptor;

    public override TimeSpan Age => connection.Age;

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

    public override void PostAfterEnd(Action action) => connection.Worker.Post(action);

    public override void BeginWait() => connection.IsWaiting = true;

    public override void Resume() => connection.Post(s_resume);

    public override HeldMemory Held => connection.Held;

    public override HeldValue CreateSource() => new(connection);

    public override ConnectionLimits Limits => connection.Worker.Limits;

    public override (long Received, long Sent) Bytes => (connection.BytesReceived, connection.BytesSent);

    public override (long Input, long Output) Waiting => (connection.WaitingInputBytes, 0);

    public override void Close(CloseReason reason) => connection.Close(reason);

    public override void Reject(ReadOnlySpan<byte> request) => connection.Reject(request);

    public override void ReportWrongPassword() => connection.ReportWrongPassword();

    // The delegate of the last post, and its adapter for the connection.
    private sealed record Posting(Action<OutputBuffer> Write, Action<ClientConnection> OnConnection);
}
