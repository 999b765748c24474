using System.Net;
using Cairn.Platform.Linux;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Platform;

namespace Cairn.Server.Io.Epoll;

internal sealed unsafe class EpollChannel : IoChannel
{
    // The maximum number of segments per send.
    private const int VectorsAtOnce = 16;

    private readonly EpollLoop _loop;
    private readonly PeerAddress _peer;
    private readonly PeerAddress _local;
    private bool _isReceiveEnded;

    public EpollChannel(EpollLoop loop, IIoConnection connection, int descriptor)
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

    /// <summary>Gets or sets the channel's name in events: slot and generation.</summary>
    public ulong Slot { get; set; }

    public bool IsOpen { get; private set; } = true;

    public bool IsReceivePaused { get; private set; }

    public override IPEndPoint? Remote => _peer.ToEndPoint();

    public override IPEndPoint? Local => _local.ToEndPoint();

    public override void Start() => Watch(EpollNative.Add);

    public override void Send()
    {
        if (!IsBlocked)
        {
            SendAll();
            if (IsBlocked)
            {
                Watch(EpollNative.Modify);
            }
        }

        if (IsBlocked)
        {
            Connection.WireOutput.MoveToOwnBlocks();
        }
    }

    public override void PauseReceive()
    {
        IsReceivePaused = true;
        Watch(EpollNative.Modify);
    }

    public override void ResumeReceive()
    {
        IsReceivePaused = false;
        Watch(EpollNative.Modify);
    }

    public override void ShutdownSend() => LinuxSockets.ShutdownSend(Descriptor);

    public override bool Close(bool isHard)
    {
        IsOpen = false;
        _loop.Forget(this);
        if (isHard)
        {
            LinuxSockets.DropOnClose(Descriptor);
        }

        LinuxSockets.CloseDescriptor(Descriptor);
        return true;
    }

    /// <summary>Stops watching for input after the client has ended its side. The descriptor would stay readable.</summary>
    public void EndReceive()
    {
        _isReceiveEnded = true;
        Watch(EpollNative.Modify);
    }

    /// <summary>Continues to send when the kernel takes output again.</summary>
    public void OnWritable()
    {
        if (!IsBlocked)
        {
            return;
        }

        IsBlocked = false;
        SendAll();
        if (!IsBlocked && IsOpen)
        {
            Watch(EpollNative.Modify);
        }

        _loop.Worker.OnSent(Connection);
    }

    private void Watch(int operation)
    {
        uint events = (IsReceivePaused || _isReceiveEnded ? 0 : EpollNative.In) | (IsBlocked ? EpollNative.Out : 0);
        if (EpollNative.Control(_loop.Descriptor, operation, Descriptor, events, Slot) != 0)
        {
            // The kernel is out of memory. No more events would arrive for this connection.
            _loop.Worker.OnReset(Connection);
        }
    }

    private void SendAll()
    {
        OutputBuffer output = Connection.WireOutput;
        LinuxSockets.IoVector* vectors = stackalloc LinuxSockets.IoVector[VectorsAtOnce];
        while (output.First is { } first)
        {
            nint sent;
            long asked;
            if (first.Next is null)
            {
                asked = first.Length;
                sent = LinuxSockets.Send(Descriptor, first.Pointer, (nuint)asked, LinuxSockets.DontWait | LinuxSockets.NoSignal);
            }
            else
            {
                var message = new LinuxSockets.MessageHeader
                {
                    Vectors = vectors,
                    VectorCount = (nuint)output.Describe(vectors, VectorsAtOnce, out asked),
                };
                sent = LinuxSockets.SendMessage(Descriptor, &message, LinuxSockets.DontWait | LinuxSockets.NoSignal);
            }

            if (sent >= 0)
            {
                Connection.CountSent(sent);
                output.Sent(sent);
                IsBlocked = sent < asked;
            }
            else if (LinuxSockets.LastError is LinuxErrors.TryAgain)
            {
                IsBlocked = true;
            }
            else if (LinuxSockets.LastError is not LinuxErrors.Interrupted)
            {
                _loop.Worker.OnReset(Connection);
                return;
            }

            if (IsBlocked)
            {
                return;
            }
        }
    }
}
