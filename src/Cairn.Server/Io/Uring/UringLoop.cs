// io_uring: one call per turn submits the requests that the turn prepared (mostly sends) and waits for the next events. Requests to
// receive and to accept are submitted once and remain active until the connection ends.
//
//   I1  The input of a turn is in the kernel's buffers until the turn ends. Then the buffers are given back.
//   I2  A request names its channel by slot. A channel keeps its slot while one of its requests is in progress.
//   I3  A send first tries without waiting, so it is over when the call that submits it returns. It posts a completion only if
//       it did not send everything. If successful sends posted completions, these would end each wait at once, and every turn
//       would need a second call. If the worker has to act after a send, the loop does not wait in the next call.
//   I4  The output that I3's send left over is sent by a second request, which waits in the kernel until the client reads.
using Cairn.Platform.Linux;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Listening;
using Cairn.Server.Platform;

namespace Cairn.Server.Io.Uring;

internal sealed unsafe class UringLoop : IoLoop
{
    private const uint Submissions = 1024;
    private const uint Completions = 8192;
    private const int MostBuffers = 2048;
    private const ushort BufferGroup = 0;

    // The maximum number of segments per send, and of sends with several segments that are prepared at the same time.
    private const int VectorsAtOnce = 16;
    private const int MessagesAtOnce = 64;
    private static readonly int MessageBytes = sizeof(LinuxSockets.MessageHeader) + (VectorsAtOnce * sizeof(LinuxSockets.IoVector));

    // The kernel processes about this many completions per call, and leaves the others for the next call.
    private const int WorkAtOnce = 16;

    private const int KindShift = 56;
    private const ulong NameMask = (1UL << KindShift) - 1;

    private readonly UringFeatures _features;
    private readonly ChannelSlots<UringChannel> _slots = new();
    private readonly List<Listener> _listeners = [];
    private readonly List<bool> _isAccepting = [];
    private readonly List<UringChannel> _starved = [];
    private readonly List<Tried> _tried = []; // I3; prepared, possibly submitted.
    private readonly List<Tried> _awaited = []; // I3; certainly submitted.
    private int[] _used = new int[MostBuffers];
    private int _usedCount;
    private IIoWorker _worker = null!; // This and the following fields are set by Open.
    private UringRing _ring = null!;
    private UringBuffers _buffers = null!;
    private byte* _messages;
    private int _messageCount;
    private ulong* _wakeCount;
    private int _wake = -1;
    private bool _isAcceptPaused;
    private bool _isListening;

    public UringLoop(UringFeatures features) => _features = features;

    private enum Request : byte
    {
        Receive = 1,
        CancelReceive,
        Send,
        Accept,
        CancelAccept,
        Wake,
    }

    public override string Description
    {
        get
        {
            string work = (_features & UringFeatures.DeferredWork) != 0 ? "deferred work" : "cooperative work";
            string receive = (_features & UringFeatures.MultishotReceive) != 0 ? "multishot receive" : "single receives";
            string send = (_features & UringFeatures.SilentSends) != 0 ? "silent sends" : "confirmed sends";
            return $"io_uring ({work}, {receive}, {send})";
        }
    }

    public override bool IsAcceptPaused => _isAcceptPaused;

    public IIoWorker Worker => _worker;

    public override void Open(IIoWorker worker)
    {
        _worker = worker;
        UringRing? ring = null;
        try
        {
            ring = UringRing.Create(Submissions, Completions, _features);
            _buffers = UringBuffers.Register(ring.Handle, BufferGroup, MostBuffers);
            _wake = LinuxSockets.EventDescriptor(0, LinuxSockets.CloseOnExec);
            if (_wake < 0)
            {
                throw new ServerException($"io_uring cannot be used: no event descriptor: {LinuxErrors.Text(LinuxSockets.LastError)}.");
            }
        }
        catch
        {
            ring?.Dispose();
            _buffers?.Dispose();
            throw;
        }

        _ring = ring;
        _messages = (byte*)NativeMemory.Alloc((nuint)(MessagesAtOnce * MessageBytes));
        _wakeCount = (ulong*)NativeMemory.Alloc(sizeof(ulong));
        AwaitWake();
    }

    public override void Listen(Listener listener)
    {
        _isListening = true;
        _listeners.Add(listener);
        _isAccepting.Add(false);
        Accept(_listeners.Count - 1);
    }

    public override void StopListening()
    {
        _isListening = false;
        _isAcceptPaused = false;
        for (int i = 0; i < _listeners.Count; i++)
        {
            if (_isAccepting[i])
            {
                UringNative.Entry* entry = Prepare(Request.CancelAccept, (ulong)i);
                entry->Operation = UringNative.OpAsyncCancel;
                entry->Address = UserData(Request.Accept, (ulong)i);
            }

            // A request in progress keeps the socket open. After the shutdown, the socket refuses clients at once.
            LinuxSockets.ShutdownBoth(_listeners[i].Descriptor);
        }

        Submit();
    }

    public override void RetryAccept()
    {
        _isAcceptPaused = false;
        for (int i = 0; i < _listeners.Count; i++)
        {
            Accept(i);
        }
    }

    public override IoChannel Adopt(AcceptedSocket socket, IIoConnection connection)
    {
        var channel = new UringChannel(this, connection, socket.Descriptor);
        channel.Name = _slots.Add(channel);
        return channel;
    }

    public override bool Collect(int timeoutMs)
    {
        bool mustWait = timeoutMs != 0 && !IsTriedAwaited();
        int error = _ring.Enter(minimum: mustWait ? 1u : 0u, timeoutMs, collects: true);
        Debug.Assert(
            error is 0 or LinuxErrors.Interrupted or LinuxErrors.TimeExpired or LinuxErrors.Busy or LinuxErrors.TryAgain,
            "Everything else is our mistake.");

        _messageCount = 0;
        _worker.OnAwake();
        bool isAll = _ring.Unsubmitted == 0 && !_ring.HasOverflow;
        if (_ring.Unsubmitted == 0)
        {
            _awaited.AddRange(_tried); // Without the sends that result from the completions dispatched below.
            _tried.Clear();
        }

        int count = _ring.CompletionCount();
        for (int i = 0; i < count; i++)
        {
            // A copy, because dispatching may submit, and the kernel may then overwrite the completion.
            UringNative.Completion completion = _ring.Completion(i);
            Dispatch(completion);
        }

        _ring.Seen(count);
        if (isAll)
        {
            CompleteTried();
        }

        return isAll && count < WorkAtOnce;
    }

    public override void Flush() => Submit();

    public override void EndTurn()
    {
        if (_usedCount > 0)
        {
            for (int i = 0; i < _usedCount; i++)
            {
                _buffers.Give(_used[i]);
            }

            _usedCount = 0;
            _buffers.Publish();
        }

        if (_starved.Count > 0)
        {
            _buffers.Double();
            foreach (UringChannel channel in _starved)
            {
                channel.Receive();
            }

            _starved.Clear();
        }
    }

    public override void Trim()
    {
        if ((_ring.Features & UringFeatures.DeferredWork) != 0 && _ring.CompletionCount() == 0 && !_ring.HasOverflow)
        {
            _buffers.Trim();
        }
    }

    public override void Wake()
    {
        ulong one = 1;
        _ = LinuxSockets.Write(_wake, &one, sizeof(ulong));
    }

    public override void Dispose()
    {
        _ring.Dispose();
        _buffers.Dispose();
        LinuxSockets.CloseDescriptor(_wake);
        NativeMemory.Free(_messages);
        NativeMemory.Free(_wakeCount);
    }

    // --- Members for the channels ---

    public void PrepareReceive(UringChannel channel)
    {
        UringNative.Entry* entry = Prepare(Request.Receive, channel.Name);
        entry->Operation = UringNative.OpReceive;
        entry->Descriptor = channel.Descriptor;
        entry->Flags = UringNative.EntryBufferSelect;
        entry->BufferGroup = BufferGroup;
        entry->Priority = (_features & UringFeatures.MultishotReceive) != 0 ? UringNative.ReceiveMultishot : (ushort)0;
    }

    public void PrepareCancelReceive(UringChannel channel)
    {
        UringNative.Entry* entry = Prepare(Request.CancelReceive, channel.Name);
        entry->Operation = UringNative.OpAsyncCancel;
        entry->Address = UserData(Request.Receive, channel.Name);
    }

    /// <summary>Prepares a send of the first segments of the channel's output.</summary>
    /// <returns>The number of bytes of these segments.</returns>
    public long PrepareSend(UringChannel channel, bool mayWait)
    {
        OutputBuffer output = channel.Connection.WireOutput;
        OutputSegment first = output.First!;
        bool isMessage = first.Next is not null;
        if (isMessage && _messageCount == MessagesAtOnce)
        {
            Submit();
        }

        UringNative.Entry* entry = Prepare(Request.Send, channel.Name);
        entry->Descriptor = channel.Descriptor;
        if (mayWait)
        {
            entry->OperationFlags = LinuxSockets.NoSignal;
        }
        else if ((_features & UringFeatures.SilentSends) != 0)
        {
            // With WaitAll, a send that cannot send everything fails. Only failures post a completion.
            entry->OperationFlags = LinuxSockets.NoSignal | LinuxSockets.DontWait | LinuxSockets.WaitAll;
            entry->Flags = UringNative.EntrySilentSuccess;
            _tried.Add(new Tried(channel, channel.Sends));
        }
        else
        {
            entry->OperationFlags = LinuxSockets.NoSignal | LinuxSockets.DontWait;
        }

        if (!isMessage)
        {
            entry->Operation = UringNative.OpSend;
            entry->Address = (ulong)first.Pointer;
            entry->Length = (uint)first.Length;
            return first.Length;
        }

        var message = (LinuxSockets.MessageHeader*)(_messages + (_messageCount++ * MessageBytes));
        var vectors = (LinuxSockets.IoVector*)(message + 1);
        *message = new LinuxSockets.MessageHeader
        {
            Vectors = vectors,
            VectorCount = (nuint)output.Describe(vectors, VectorsAtOnce, out long bytes),
        };
        entry->Operation = UringNative.OpSendMessage;
        entry->Address = (ulong)message;
        entry->Length = 1;
        return bytes;
    }

    public void Forget(UringChannel channel) => _slots.Remove(channel.Name);

    private static ulong UserData(Request request, ulong name) => ((ulong)request << KindShift) | name;

    private UringNative.Entry* Prepare(Request request, ulong name)
    {
        if (_ring.IsFull)
        {
            Submit();
        }

        UringNative.Entry* entry = _ring.Prepare();
        entry->UserData = UserData(request, name);
        return entry;
    }

    private void Submit()
    {
        while (_ring.Unsubmitted > 0)
        {
            // Busy: the kernel takes no more entries because too many completions wait. A call that collects lets it move some of them
            // over.
            bool isBusy = _ring.Enter(minimum: 0, timeoutMs: 0, collects: false) is LinuxErrors.Busy;
            if (isBusy)
            {
                _ = _ring.Enter(minimum: 0, timeoutMs: 0, collects: true);
            }
        }

        _messageCount = 0;
    }

    // I3
    private bool IsTriedAwaited()
    {
        foreach (ref readonly Tried tried in CollectionsMarshal.AsSpan(_tried))
        {
            if (tried.Channel.IsSendAwaited)
            {
                return true;
            }
        }

        return false;
    }

    // I3: a submitted send without a completion has sent everything.
    private void CompleteTried()
    {
        foreach (ref readonly Tried tried in CollectionsMarshal.AsSpan(_awaited))
        {
            tried.Channel.OnNothingSaid(tried.Send);
        }

        _awaited.Clear();
    }

    private void Dispatch(in UringNative.Completion completion)
    {
        ulong name = completion.UserData & NameMask;
        switch ((Request)(completion.UserData >> KindShift))
        {
            case Request.Receive:
                OnReceived(name, completion);
                break;
            case Request.Send:
                _slots.Find(name)!.OnSent(completion.Result); // I2
                break;
            case Request.CancelReceive:
                _slots.Find(name)!.OnCancelled(); // I2
                break;
            case Request.Accept:
                OnAccepted((int)name, completion);
                break;
            case Request.Wake:
                AwaitWake();
                break;
            case Request.CancelAccept:
            default:
                break;
        }
    }

    private void OnReceived(ulong name, in UringNative.Completion completion)
    {
        byte* bytes = null;
        if ((completion.Flags & UringNative.CompletionHasBuffer) != 0)
        {
            int buffer = (int)(completion.Flags >> UringNative.CompletionBufferShift);
            bytes = _buffers.AddressOf(buffer);
            _used[_usedCount++] = buffer;
        }

        UringChannel channel = _slots.Find(name)!; // I2
        channel.OnReceived(bytes, completion.Result, hasMore: (completion.Flags & UringNative.CompletionMore) != 0);
        if (channel.IsStarved)
        {
            channel.IsStarved = false;
            _starved.Add(channel);
        }
    }

    private void Accept(int index)
    {
        if (_isAccepting[index])
        {
            return;
        }

        _isAccepting[index] = true;
        UringNative.Entry* entry = Prepare(Request.Accept, (ulong)index);
        entry->Operation = UringNative.OpAccept;
        entry->Descriptor = _listeners[index].Descriptor;
        entry->Priority = UringNative.AcceptMultishot;
        entry->OperationFlags = LinuxSockets.CloseOnExec;
    }

    private void OnAccepted(int index, in UringNative.Completion completion)
    {
        if (completion.Result >= 0)
        {
            var socket = new AcceptedSocket(completion.Result);
            if (_isListening)
            {
                _worker.OnAccepted(_listeners[index], socket);
            }
            else
            {
                socket.Refuse([]);
            }
        }

        if ((completion.Flags & UringNative.CompletionMore) != 0)
        {
            return;
        }

        _isAccepting[index] = false;
        if (_isListening)
        {
            if (LinuxSockets.IsShortage(-completion.Result))
            {
                _isAcceptPaused = true;
                _worker.OnAcceptFailed(_listeners[index], LinuxErrors.Text(-completion.Result));
            }
            else
            {
                Accept(index);
            }
        }
    }

    private void AwaitWake()
    {
        UringNative.Entry* entry = Prepare(Request.Wake, 0);
        entry->Operation = UringNative.OpRead;
        entry->Descriptor = _wake;
        entry->Address = (ulong)_wakeCount;
        entry->Length = sizeof(ulong);
    }

    // The number distinguishes a send from those before and after it.
    [StructLayout(LayoutKind.Auto)]
    private readonly record struct Tried(UringChannel Channel, uint Send);
}
