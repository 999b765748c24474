// The sockets of .NET, for systems whose own interfaces are not used directly. The runtime's threads only tell that
// something is ready; receiving, executing and sending happen on the worker's thread, in batches as with the other loops.
//
//   I1  What was received in a turn lies in the receive buffer, one after the other, until the turn ends.
//   I2  Before the thread waits it says so, and then looks at the queue once more; whoever adds to the queue looks whether
//       it waits afterwards. So one of the two sees the other.
using System.Collections.Concurrent;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Cairn.Server.Connections;
using Cairn.Server.Listening;

namespace Cairn.Server.Io.Sockets;

internal sealed unsafe class SocketsLoop : IoLoop
{
    private const int ReceiveBytes = 256 << 10;

    // One connection's share of the receive buffer in a turn; the buffer is full when it has less left.
    private const int LargestReceiveBytes = 32 << 10;
    private const int SmallestReceiveBytes = 16 << 10;

    private readonly ConcurrentQueue<Event> _events = new();
    private readonly ManualResetEventSlim _signal = new(initialState: false, spinCount: 0);
    private readonly Queue<SocketsChannel> _readable = new();
    private readonly List<SocketsAcceptor> _acceptors = [];
    private readonly Block _received = new(ReceiveBytes);
    private Worker _worker = null!; // Set by Open.
    private int _receivedBytes;
    private int _isWaiting;
    private bool _isAcceptPaused;
    private bool _isListening;

    /// <summary>What a runtime's thread tells.</summary>
    public enum EventKind
    {
        Readable,
        Sent,
        Accepted,
    }

    public override string Description => "sockets";

    public override bool IsAcceptPaused => _isAcceptPaused;

    public Worker Worker => _worker;

    public override void Open(Worker worker) => _worker = worker;

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

    public override IoChannel Adopt(AcceptedSocket socket, ClientConnection connection) =>
        new SocketsChannel(this, connection, socket.Socket!);

    public override bool Collect(int timeoutMs)
    {
        if (timeoutMs != 0 && _readable.Count == 0)
        {
            Wait(timeoutMs);
        }

        _worker.OnAwake();

        // Those of this moment: events that come of them have the next turn.
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

    /// <summary>Any thread.</summary>
    public void Add(EventKind kind, SocketsChannel? channel, SocketsAcceptor? acceptor = null)
    {
        _events.Enqueue(new Event { Kind = kind, Channel = channel, Acceptor = acceptor });

        // Full fence (the exchange); pairs with the one in Wait (I2). Without it, the flag could be read before the event can
        // be seen, and the worker would wait with an event in its queue.
        if (Interlocked.Exchange(ref _isWaiting, 0) != 0)
        {
            _signal.Set();
        }
    }

    /// <summary>Something can be received from the channel now.</summary>
    public void AddReadable(SocketsChannel channel) => _readable.Enqueue(channel);

    private void Wait(int timeoutMs)
    {
        // Full fence (the exchange); pairs with the one in Add (I2). Without it, the queue could be looked at before the flag
        // can be seen, and an event in between would wait for the end of the wait.
        Interlocked.Exchange(ref _isWaiting, 1);
        if (_events.IsEmpty)
        {
            _signal.Wait(timeoutMs);
        }

        // A stale 1 costs a needless signal. What was signalled so far is looked at from here on.
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
        // Bounded, or a storm of new clients would keep the others waiting.
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
                socket?.Dispose(); // Nobody listens any more, or the client has gone already.
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
