// The sockets of .NET, for systems whose own interfaces the server does not use directly. The runtime's threads only report that a socket
// is ready. Receiving, executing and sending happen on the worker's thread, in batches as with the other loops.
//
//   I1  The input of a turn is in the receive buffer, one piece after the other, until the turn ends.
//   I2  Before the thread waits, it sets a flag and then checks the queue once more. A thread that adds to the queue checks the
//       flag afterwards. So at least one of the two sees the other.
using System.Collections.Concurrent;
using System.Net.Sockets;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Listening;

namespace Cairn.Server.Io.Sockets;

internal sealed unsafe class SocketsLoop : IoLoop
{
    private const int ReceiveBytes = 256 << 10;

    // The maximum and minimum share of one connection in the receive buffer in a turn. With less than the minimum left, the buffer is
    // full.
    private const int LargestReceiveBytes = 32 << 10;
    private const int SmallestReceiveBytes = 16 << 10;

    private readonly ConcurrentQueue<Event> _events = new();
    private readonly ManualResetEventSlim _signal = new(initialState: false, spinCount: 0);
    private readonly Queue<SocketsChannel> _readable = new();
    private readonly List<SocketsAcceptor> _acceptors = [];
    private readonly Block _received = new(ReceiveBytes);
    private IIoWorker _worker = null!; // Set by Open.
    private int _receivedBytes;
    private int _isWaiting;
    private bool _isAcceptPaused;
    private bool _isListening;

    /// <summary>The events that the runtime's threads report.</summary>
    public enum EventKind
    {
        Readable,
        Sent,
        Accepted,
    }

    public override string Description => "sockets";

    public override bool IsAcceptPaused => _isAcceptPaused;

    public IIoWorker Worker => _worker;

    public override void Open(IIoWorker worker) => _worker = worker;

    public override void Listen(Listener listener)
    {
        _isListening = true;
        var acceptor = new SocketsAcceptor(this, listener);
        _acceptors.Add(acceptor);
        Accept(acceptor);
    }

    public override void StopListening()
    {
        _isListening = false;
        _isAcceptPaused = false;
    }

    public override void RetryAccept()
    {
        _isAcceptPaused = false;
        foreach (SocketsAcceptor acceptor in _acceptors)
        {
            Accept(acceptor);
        }
    }

    public override IoChannel Adopt(AcceptedSocket socket, IIoConnection connection) =>
        new SocketsChannel(this, connection, socket.Socket!);

    public override bool Collect(int timeoutMs)
    {
        if (timeoutMs != 0 && _readable.Count == 0)
        {
            Wait(timeoutMs);
        }

        _worker.OnAwake();

        // Only the events of this moment. Events that result from them belong to the next turn.
        for (int count = _events.Count; count > 0 && _events.TryDequeue(out Event happened); count--)
        {
            Dispatch(happened);
        }

        for (int count = _readable.Count; count > 0 && ReceiveBytes - _receivedBytes >= SmallestReceiveBytes; count--)
        {
            Receive(_readable.Dequeue());
        }

        return _readable.Count == 0 && _events.IsEmpty;
    }

    public override void EndTurn() => _receivedBytes = 0;

    public override void Wake() => _signal.Set();

    public override void Dispose()
    {
        foreach (SocketsAcceptor acceptor in _acceptors)
        {
            acceptor.Dispose();
        }

        _signal.Dispose();
        _received.Free();
    }

    /// <summary>Adds an event to the queue. Thread-safe.</summary>
    public void Add(EventKind kind, SocketsChannel? channel, SocketsAcceptor? acceptor = null)
    {
        _events.Enqueue(new Event { Kind = kind, Channel = channel, Acceptor = acceptor });

        // Full fence (the exchange); pairs with the one in Wait (I2). Without it, this thread could read the flag before its event is
        // visible, and the worker would wait with an event in its queue.
        if (Interlocked.Exchange(ref _isWaiting, 0) != 0)
        {
            _signal.Set();
        }
    }

    /// <summary>Adds a channel that has input to receive.</summary>
    public void AddReadable(SocketsChannel channel) => _readable.Enqueue(channel);

    private void Wait(int timeoutMs)
    {
        // Full fence (the exchange); pairs with the one in Add (I2). Without it, the worker could check the queue before the flag is
        // visible, and an event in between would wait until the wait ends.
        Interlocked.Exchange(ref _isWaiting, 1);
        if (_events.IsEmpty)
        {
            _signal.Wait(timeoutMs);
        }

        // A stale 1 only costs an unnecessary signal. The events of all signals up to here are handled after the reset.
        Volatile.Write(ref _isWaiting, 0);
        _signal.Reset();
    }

    private void Dispatch(in Event happened)
    {
        switch (happened.Kind)
        {
            case EventKind.Readable:
                happened.Channel!.OnReadable();
                break;
            case EventKind.Sent:
                happened.Channel!.OnSent();
                break;
            case EventKind.Accepted:
            default:
                OnAccepted(happened.Acceptor!);
                break;
        }
    }

    private void Receive(SocketsChannel channel)
    {
        if (!channel.CanReceive)
        {
            return;
        }

        int room = Math.Min(ReceiveBytes - _receivedBytes, LargestReceiveBytes);
        int count = channel.Receive(_received.Span.Slice(_receivedBytes, room), out SocketError error);
        if (count > 0)
        {
            byte* start = _received.Pointer + _receivedBytes;
            _receivedBytes += count;
            _worker.OnReceived(channel.Connection, start, count);
            if (count == room)
            {
                _readable.Enqueue(channel); // There may be more.
            }
            else
            {
                channel.AwaitInput();
            }
        }
        else if (error == SocketError.Success)
        {
            channel.EndReceive();
            _worker.OnInputEnded(channel.Connection);
        }
        else if (error is SocketError.WouldBlock or SocketError.Interrupted)
        {
            channel.AwaitInput();
        }
        else
        {
            _worker.OnReset(channel.Connection);
        }
    }

    private void Accept(SocketsAcceptor acceptor)
    {
        // Limited, so that many new clients at once do not delay the others.
        for (int i = 0; _isListening && acceptor.TryStart(); i++)
        {
            Deal(acceptor);
            if (_isAcceptPaused || i == 64)
            {
                Add(EventKind.Accepted, channel: null, acceptor);
                return;
            }
        }
    }

    private void OnAccepted(SocketsAcceptor acceptor)
    {
        Deal(acceptor);
        if (!_isAcceptPaused)
        {
            Accept(acceptor);
        }
    }

    private void Deal(SocketsAcceptor acceptor)
    {
        switch (acceptor.Take(out Socket? socket))
        {
            case SocketError.Success when socket is not null && _isListening:
                _worker.OnAccepted(acceptor.Listener, new AcceptedSocket(socket));
                break;
            case SocketError.TooManyOpenSockets or SocketError.NoBufferSpaceAvailable when _isListening:
                _isAcceptPaused = true;
                _worker.OnAcceptFailed(acceptor.Listener, "too many open files, or no memory");
                break;
            default:
                socket?.Dispose(); // The server has stopped listening, or the client has already gone.
                break;
        }
    }

    [StructLayout(LayoutKind.Auto)]
    private struct Event
    {
        public EventKind Kind;
        public SocketsChannel? Channel;
        public SocketsAcceptor? Acceptor;
    }
}
