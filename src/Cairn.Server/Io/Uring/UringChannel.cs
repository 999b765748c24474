// A connection's requests to the ring. At most one of each kind is in progress:
//
//   receive   none --Start, Resume--> armed --no more--> none          (armed again unless paused or ended)
//                                       | Pause: cancel
//                                       +--> cancelling --> none
//   send      none --Send--> tried --all--> none
//                              | short
//                              +--> waiting in the kernel --all--> none
//
//   I1  One send at a time: a second one could overtake the rest of the first.
//   I2  Output that a send names keeps its address until the send completes.
//   I3  The descriptor is closed when no request is in progress. Until then the kernel would keep the socket open anyway.
using System.Net;
using Cairn.Platform.Linux;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Platform;

namespace Cairn.Server.Io.Uring;

internal sealed unsafe class UringChannel : IoChannel
{
    private readonly UringLoop _loop;
    private readonly PeerAddress _peer;
    private readonly PeerAddress _local;
    private long _sendBytes;
    private int _underWay;
    private bool _wantsInput;
    private bool _isInputEnded;
    private bool _isReceiving;
    private bool _isCancelling;
    private bool _isSending;
    private bool _isClosed;

    public UringChannel(UringLoop loop, IIoConnection connection, int descriptor)
    {
        _loop = loop;
        Connection = connection;
        Descriptor = descriptor;
        _peer = LinuxSockets.PeerOf(descriptor);
        _local = LinuxSockets.LocalOf(descriptor);
    }

    public IIoConnection Connection { get; }

    public override int Descriptor { get; }

    public override int UndeliveredBytes => LinuxSockets.UndeliveredBytes(Descriptor);

    /// <summary>Gets or sets the channel's name in requests.</summary>
    public ulong Name { get; set; }

    /// <summary>Gets or sets whether the kernel had no buffer for input. Receiving continues when there are buffers.</summary>
    public bool IsStarved { get; set; }

    /// <summary>Gets the number of the latest send.</summary>
    public uint Sends { get; private set; }

    /// <summary>Gets whether there is more to do when the send has succeeded.</summary>
    public bool IsSendAwaited => Connection.AwaitsSent || Connection.WireOutput.UnsentBytes != _sendBytes;

    public override IPEndPoint? Remote => _peer.ToEndPoint();

    public override IPEndPoint? Local => _local.ToEndPoint();

    public override void Start()
    {
        _wantsInput = true;
        Receive();
    }

    public override void PauseReceive()
    {
        _wantsInput = false;
        if (_isReceiving && !_isCancelling)
        {
            _isCancelling = true;
            _underWay++;
            _loop.PrepareCancelReceive(this);
        }
    }

    public override void ResumeReceive()
    {
        _wantsInput = true;
        Receive(); // If a cancellation is in progress, receiving continues when it has completed.
    }

    public override void Send()
    {
        if (!_isSending)
        {
            StartSend(mayWait: false);
        }
        else if (IsBlocked)
        {
            Connection.WireOutput.MoveToOwnBlocks(); // The output that the present send names is already in such blocks (I2).
        }
    }

    public override void ShutdownSend() => LinuxSockets.ShutdownSend(Descriptor);

    public override bool Close(bool isHard)
    {
        _isClosed = true;
        if (isHard)
        {
            LinuxSockets.DropOnClose(Descriptor);
        }

        if (_underWay == 0)
        {
            LetGo();
            return true;
        }

        LinuxSockets.ShutdownBoth(Descriptor); // Ends the requests in progress.
        return false;
    }

    /// <summary>Starts to receive, unless receiving is already in progress, is paused or has ended.</summary>
    public void Receive()
    {
        if (_isReceiving || !_wantsInput || _isInputEnded || _isClosed)
        {
            return;
        }

        _isReceiving = true;
        _underWay++;
        _loop.PrepareReceive(this);
    }

    public void OnReceived(byte* bytes, int result, bool hasMore)
    {
        if (!hasMore)
        {
            _isReceiving = false;
            _underWay--;
        }

        if (_isClosed)
        {
            LetGoIfIdle();
            return;
        }

        switch (result)
        {
            case > 0:
                _loop.Worker.OnReceived(Connection, bytes, result);
                break;
            case 0:
                _isInputEnded = true;
                _loop.Worker.OnInputEnded(Connection);
                break;
            case -LinuxErrors.NoBuffers:
                IsStarved = true;
                return;
            case -LinuxErrors.Canceled or -LinuxErrors.Interrupted or -LinuxErrors.TryAgain:
                break;
            default:
                _loop.Worker.OnReset(Connection);
                break;
        }

        Receive();
    }

    public void OnCancelled()
    {
        _isCancelling = false;
        _underWay--;
        LetGoIfIdle();
    }

    /// <summary>Completes a send for which the kernel posted no completion: everything was sent.</summary>
    public void OnNothingSaid(uint send)
    {
        if (_isSending && send == Sends)
        {
            OnSent((int)_sendBytes);
        }
    }

    public void OnSent(int result)
    {
        _isSending = false;
        _underWay--;
        if (_isClosed)
        {
            LetGoIfIdle();
            return;
        }

        OutputBuffer output = Connection.WireOutput;
        switch (result)
        {
            case >= 0:
                Connection.CountSent(result);
                output.Sent(result);
                IsBlocked = result < _sendBytes;
                break;
            case -LinuxErrors.TryAgain:
                IsBlocked = true;
                break;
            case -LinuxErrors.Interrupted or -LinuxErrors.Canceled:
                break;
            default:
                _loop.Worker.OnReset(Connection);
                return;
        }

        if (IsBlocked)
        {
            output.MoveToOwnBlocks();
            StartSend(mayWait: true);
        }
        else if (output.First is not null)
        {
            StartSend(mayWait: false);
        }

        _loop.Worker.OnSent(Connection);
    }

    private void StartSend(bool mayWait)
    {
        _isSending = true;
        _underWay++;
        Sends++;
        _sendBytes = _loop.PrepareSend(this, mayWait);
    }

    private void LetGoIfIdle()
    {
        if (_isClosed && _underWay == 0)
        {
            LetGo();
            _loop.Worker.OnChannelClosed(Connection);
        }
    }

    // I3
    private void LetGo()
    {
        LinuxSockets.CloseDescriptor(Descriptor);
        _loop.Forget(this);
    }
}
