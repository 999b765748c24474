// epoll, level triggered. The kernel reports the descriptors that are ready. The loop receives from each of them until the worker's
// receive buffer is full or all had their turn. Sending happens at once. The loop waits only for clients that do not read.
//
//   I1  The input of a turn is in the receive buffer, one piece after the other, until the turn ends.
//   I2  An event names a channel by its slot and the slot's generation, so an event for a channel closed since has no effect.
using Cairn.Platform.Linux;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Listening;
using Cairn.Server.Platform;

namespace Cairn.Server.Io.Epoll;

internal sealed unsafe class EpollLoop : IoLoop
{
    private const int EventsAtOnce = 512;
    private const int ReceiveBytes = 256 << 10;

    // The maximum and minimum share of one connection in the receive buffer in a turn. With less than the minimum left, the buffer is
    // full.
    private const int LargestReceiveBytes = 32 << 10;
    private const int SmallestReceiveBytes = 16 << 10;

    // The data of an event: a slot with its generation, or one of these.
    private const ulong WakeData = ulong.MaxValue;
    private const ulong FirstListenerData = 1UL << 63;

    private readonly List<Listener> _listeners = [];
    private readonly byte[] _events = GC.AllocateUninitializedArray<byte>(EventsAtOnce * 16, pinned: true);
    private readonly Block _received = new(ReceiveBytes);
    private readonly ChannelSlots<EpollChannel> _slots = new();
    private IIoWorker _worker = null!; // Set by Open.
    private int _epoll = -1;
    private int _wake = -1;
    private int _eventCount;
    private int _nextEvent;
    private int _receivedBytes;
    private bool _isAcceptPaused;

    /// <summary>Gets the reason why epoll cannot be used on this machine; null if it can.</summary>
    public static string? Obstacle => LinuxNative.IsSupportedArchitecture && OperatingSystem.IsLinux()
        ? null
        : $"epoll cannot be used on {RuntimeInformation.OSDescription} ({RuntimeInformation.ProcessArchitecture}).";

    public override string Description => "epoll";

    public override bool IsAcceptPaused => _isAcceptPaused;

    public IIoWorker Worker => _worker;

    public int Descriptor => _epoll;

    public override void Open(IIoWorker worker)
    {
        _worker = worker;
        _epoll = EpollNative.Create(EpollNative.CloseOnExec);
        _wake = LinuxSockets.EventDescriptor(0, LinuxSockets.CloseOnExec | LinuxSockets.NonBlocking);
        if (_epoll < 0 || _wake < 0 || EpollNative.Control(_epoll, EpollNative.Add, _wake, EpollNative.In, WakeData) != 0)
        {
            string reason = LinuxErrors.Text(LinuxSockets.LastError);
            CloseDescriptors();
            throw new ServerException($"epoll cannot be used: {reason}.");
        }
    }

    public override void Listen(Listener listener)
    {
        _listeners.Add(listener);
        listener.Socket.Blocking = false;
        if (!Watch(listener, EpollNative.Add, FirstListenerData + (ulong)(_listeners.Count - 1)))
        {
            throw new ServerException(
                $"epoll refuses the listener '{listener.Name}' on {listener.Where}: {LinuxErrors.Text(LinuxSockets.LastError)}. Raise " +
                "fs.epoll.max_user_watches, or free some memory.");
        }
    }

    public override void StopListening()
    {
        for (int i = 0; i < _listeners.Count; i++)
        {
            _ = EpollNative.Control(_epoll, EpollNative.Delete, _listeners[i].Descriptor, 0, 0);
        }

        _listeners.Clear();
        _isAcceptPaused = false;
    }

    public override void RetryAccept()
    {
        _isAcceptPaused = false;
        bool areWatched = true;
        for (int i = 0; i < _listeners.Count; i++)
        {
            areWatched &= Watch(_listeners[i], EpollNative.Modify, FirstListenerData + (ulong)i);
        }

        _isAcceptPaused = !areWatched; // Then the worker tries again.
    }

    public override IoChannel Adopt(AcceptedSocket socket, IIoConnection connection)
    {
        var channel = new EpollChannel(this, connection, socket.Descriptor);
        channel.Slot = _slots.Add(channel);
        return channel;
    }

    public override bool Collect(int timeoutMs)
    {
        if (_nextEvent == _eventCount)
        {
            _nextEvent = 0;
            fixed (byte* events = _events)
            {
                _eventCount = Math.Max(0, EpollNative.Wait(_epoll, events, EventsAtOnce, timeoutMs)); // Negative: interrupted.
            }
        }

        _worker.OnAwake();
        bool mayBeMore = _eventCount == EventsAtOnce;
        while (_nextEvent < _eventCount && ReceiveBytes - _receivedBytes >= SmallestReceiveBytes)
        {
            int offset = _nextEvent++ * EpollNative.EventBytes;
            uint events = BitConverter.ToUInt32(_events, offset);
            ulong data = BitConverter.ToUInt64(_events, offset + EpollNative.DataOffset);
            Dispatch(events, data);
        }

        return _nextEvent == _eventCount && !mayBeMore;
    }

    public override void EndTurn() => _receivedBytes = 0;

    public override void Wake()
    {
        ulong one = 1;
        _ = LinuxSockets.Write(_wake, &one, sizeof(ulong));
    }

    public override void Dispose()
    {
        CloseDescriptors();
        _received.Free();
    }

    public void Forget(EpollChannel channel) => _slots.Remove(channel.Slot);

    private void Dispatch(uint events, ulong data)
    {
        if (data == WakeData)
        {
            ulong count;
            _ = LinuxSockets.Read(_wake, &count, sizeof(ulong));
        }
        else if (data >= FirstListenerData)
        {
            int index = (int)(data - FirstListenerData);
            if (index < _listeners.Count)
            {
                Accept(_listeners[index]);
            }
        }
        else if (_slots.Find(data) is { } channel)
        {
            if ((events & EpollNative.Out) != 0)
            {
                channel.OnWritable();
            }

            if ((events & (EpollNative.In | EpollNative.Error | EpollNative.HangUp)) != 0 && channel.IsOpen)
            {
                Receive(channel, events);
            }
        }
    }

    private void Receive(EpollChannel channel, uint events)
    {
        if (channel.IsReceivePaused)
        {
            if ((events & (EpollNative.Error | EpollNative.HangUp)) != 0)
            {
                _worker.OnReset(channel.Connection); // The client has gone and cannot read the waiting output.
            }

            return;
        }

        byte* start = _received.Pointer + _receivedBytes;
        int room = Math.Min(ReceiveBytes - _receivedBytes, LargestReceiveBytes);
        nint count = LinuxSockets.Receive(channel.Descriptor, start, (nuint)room, LinuxSockets.DontWait);
        if (count > 0)
        {
            _receivedBytes += (int)count;
            _worker.OnReceived(channel.Connection, start, (int)count);
        }
        else if (count == 0)
        {
            channel.EndReceive();
            _worker.OnInputEnded(channel.Connection);
        }
        else if (LinuxSockets.LastError is not (LinuxErrors.TryAgain or LinuxErrors.Interrupted))
        {
            _worker.OnReset(channel.Connection);
        }
    }

    private void Accept(Listener listener)
    {
        // Limited, so that many new clients at once do not delay the others. epoll reports the remaining clients again.
        for (int i = 0; i < 64; i++)
        {
            int descriptor = LinuxSockets.Accept(
                listener.Descriptor, null, null, LinuxSockets.CloseOnExec | LinuxSockets.NonBlocking);
            if (descriptor >= 0)
            {
                _worker.OnAccepted(listener, new AcceptedSocket(descriptor));
                continue;
            }

            int error = LinuxSockets.LastError;
            if (LinuxSockets.IsShortage(error))
            {
                _worker.OnAcceptFailed(listener, LinuxErrors.Text(error));
                _isAcceptPaused = true;
                for (int other = 0; other < _listeners.Count; other++)
                {
                    Watch(_listeners[other], EpollNative.Modify, FirstListenerData + (ulong)other);
                }
            }

            return; // Also if no client waits, or if a client has already gone.
        }
    }

    private bool Watch(Listener listener, int operation, ulong data) =>
        EpollNative.Control(_epoll, operation, listener.Descriptor, _isAcceptPaused ? 0 : EpollNative.In, data) == 0;

    private void CloseDescriptors()
    {
        if (_epoll >= 0)
        {
            LinuxSockets.CloseDescriptor(_epoll);
        }

        if (_wake >= 0)
        {
            LinuxSockets.CloseDescriptor(_wake);
        }
    }
}
