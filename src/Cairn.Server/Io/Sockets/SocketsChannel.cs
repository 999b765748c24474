// A connection as a socket of .NET. The socket does not block: the worker does everything that is possible at once. Only waiting is
// asynchronous. An empty receive, which holds no buffer, waits for input. A send of the remaining output waits for room.
//
//   I1  At most one receive and one send are in progress. The connection's output is released when none is.
using System.Net;
using System.Net.Sockets;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Platform;

namespace Cairn.Server.Io.Sockets;

internal sealed class SocketsChannel : IoChannel, IDisposable
{
    private readonly SocketsLoop _loop;
    private readonly Socket _socket;
    private readonly SocketAsyncEventArgs _receive = new(true);
    private SocketAsyncEventArgs? _send;
    private bool _isReceiving;
    private bool _isSending;
    private bool _wantsInput;
    private bool _isInputEnded;
    private bool _isReadable; // Whether it is in the loop's list.
    private bool _isClosed;

    public SocketsChannel(SocketsLoop loop, IIoConnection connection, Socket socket)
    {
        _loop = loop;
        _socket = socket;
        Descriptor = (int)socket.Handle;
        Connection = connection;
        socket.Blocking = false;
        try
        {
            Remote = socket.RemoteEndPoint as IPEndPoint;
            Local = socket.LocalEndPoint as IPEndPoint;
            if (Remote is not null)
            {
                socket.NoDelay = true;
            }
        }
        catch (SocketException)
        {
            // The client has already gone. Receiving reports it.
        }

        _receive.SetBuffer(Memory<byte>.Empty);
        _receive.Completed += (_, _) => _loop.Add(SocketsLoop.EventKind.Readable, this);
    }

    public override int Descriptor { get; }

    public IIoConnection Connection { get; }

    public override IPEndPoint? Remote { get; }

    public override IPEndPoint? Local { get; }

    public override int UndeliveredBytes =>
        OperatingSystem.IsLinux() && !_isClosed ? LinuxSockets.UndeliveredBytes((int)_socket.Handle) : 0;

    public bool CanReceive
    {
        get
        {
            _isReadable = false;
            return _wantsInput && !_isInputEnded && !_isClosed;
        }
    }

    public override void Start()
    {
        _wantsInput = true;
        AwaitInput();
    }

    public override void PauseReceive() => _wantsInput = false;

    public override void ResumeReceive()
    {
        _wantsInput = true;
        AwaitInput();
    }

    // A thread of the runtime reports input. It is late when the other threads of its pool are busy.
    public override bool CollectUnread()
    {
        if (!_wantsInput || _isInputEnded || _isClosed || !HasUnread())
        {
            return false;
        }

        if (!_isReadable)
        {
            MakeReadable();
        }

        return true;
    }

    public override void Send()
    {
        if (_isSending)
        {
            Connection.WireOutput.MoveToOwnBlocks();
            return;
        }

        OutputBuffer output = Connection.WireOutput;
        while (output.First is { } first)
        {
            int sent = _socket.Send(first.Bytes, SocketFlags.None, out SocketError error);
            if (error is not (SocketError.Success or SocketError.WouldBlock))
            {
                _loop.Worker.OnReset(Connection);
                return;
            }

            bool isShort = error == SocketError.WouldBlock || sent < first.Length;
            if (error == SocketError.Success)
            {
                OnBytesSent(sent);
            }

            if (isShort)
            {
                SendLater();
                return;
            }
        }
    }

    public override void ShutdownSend() => Shutdown(SocketShutdown.Send);

    public override bool Close(bool isHard)
    {
        _isClosed = true;
        if (isHard)
        {
            DropOnClose();
        }

        if (!_isReceiving && !_isSending)
        {
            Dispose();
            return true;
        }

        if (isHard)
        {
            _socket.Dispose();
        }
        else
        {
            Shutdown(SocketShutdown.Both); // Ends the requests. Disposing now could reset the connection and lose replies.
        }

        return false;
    }

    /// <summary>Disposes the socket. No request may be in progress.</summary>
    public void Dispose()
    {
        _socket.Dispose();
        _receive.Dispose();
        _send?.Dispose();
    }

    public int Receive(Span<byte> buffer, out SocketError error) => _socket.Receive(buffer, SocketFlags.None, out error);

    /// <summary>Records that the client has ended its side of the connection.</summary>
    public void EndReceive() => _isInputEnded = true;

    /// <summary>Makes the runtime report the next input, unless receiving is paused or has ended.</summary>
    public void AwaitInput()
    {
        if (_isReceiving || _isReadable || !_wantsInput || _isInputEnded || _isClosed)
        {
            return;
        }

        if (_socket.ReceiveAsync(_receive))
        {
            _isReceiving = true;
        }
        else
        {
            MakeReadable();
        }
    }

    public void OnReadable()
    {
        _isReceiving = false;
        if (_isClosed)
        {
            LetGoIfIdle();
        }
        else
        {
            MakeReadable(); // Also after a failure: receiving then returns the error.
        }
    }

    public void OnSent()
    {
        _isSending = false;
        if (_isClosed)
        {
            LetGoIfIdle();
            return;
        }

        if (_send!.SocketError != SocketError.Success)
        {
            _loop.Worker.OnReset(Connection);
            return;
        }

        IsBlocked = false;
        OnBytesSent(_send.BytesTransferred);
        Send();
        if (!_isClosed)
        {
            _loop.Worker.OnSent(Connection);
        }
    }

    private bool HasUnread()
    {
        try
        {
            return _socket.Available > 0;
        }
        catch (SocketException)
        {
            return false; // The client has already gone. Receiving reports it.
        }
    }

    private void Shutdown(SocketShutdown how)
    {
        try
        {
            _socket.Shutdown(how);
        }
        catch (SocketException)
        {
            // The client has already gone. Receiving reports it.
        }
    }

    private void DropOnClose()
    {
        try
        {
            _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        }
        catch (SocketException)
        {
            // The client has already gone.
        }
    }

    private void MakeReadable()
    {
        _isReadable = true;
        _loop.AddReadable(this);
    }

    private void OnBytesSent(int count)
    {
        Connection.CountSent(count);
        Connection.WireOutput.Sent(count);
    }

    private void SendLater()
    {
        IsBlocked = true;
        OutputBuffer output = Connection.WireOutput;
        output.MoveToOwnBlocks();
        if (_send is null)
        {
            _send = new SocketAsyncEventArgs(true);
            _send.Completed += (_, _) => _loop.Add(SocketsLoop.EventKind.Sent, this);
        }

        OutputSegment first = output.First!;
        _send.SetBuffer(first.Memory);
        _isSending = true;
        if (!_socket.SendAsync(_send))
        {
            _loop.Add(SocketsLoop.EventKind.Sent, this); // Not called directly, because the caller is still sending.
        }
    }

    private void LetGoIfIdle()
    {
        if (!_isReceiving && !_isSending)
        {
            Dispose();
            _loop.Worker.OnChannelClosed(Connection);
        }
    }
}
