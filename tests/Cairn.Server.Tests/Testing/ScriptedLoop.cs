using System.Collections.Concurrent;
using System.Net;
using System.Runtime.InteropServices;
using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Io;
using Cairn.Server.Listening;

namespace Cairn.Server.Tests.Testing;

/// <summary>A loop whose turns a test drives, one after the other. The test decides what arrives in a turn. Its clients read everything at once
/// unless the test blocks them.</summary>
internal sealed unsafe class ScriptedLoop : IoLoop
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly BlockingCollection<Action?> _turns = [];
    private readonly SemaphoreSlim _turned = new(0);
    private readonly SemaphoreSlim _woken = new(0);
    private readonly List<(nint Buffer, int Bytes)> _received = [];
    private Worker _worker = null!; // Set by Open.
    private Action _accept = null!; // Set by Listen.
    private ClientConnection _latest = null!; // Set by Adopt.
    private bool _isScripted;

    public override string Description => "a script";

    public override bool IsAcceptPaused => false;

    public Worker Worker => _worker;

    /// <summary>Gets or sets the action that happens when the worker wants what it has prepared to be sent.</summary>
    public Action OnFlush { get; set; } = () => { };

    /// <summary>Lets the test drive all further turns by <see cref="Turn"/>.</summary>
    public void BeginScript()
    {
        _worker.Post(() => _isScripted = true);
        WaitForTurn();
    }

    /// <summary>Runs one turn in which the action happens; returns when the turn has ended.</summary>
    public void Turn(Action arrives)
    {
        _turns.Add(arrives);
        WaitForTurn();
    }

    /// <summary>Lets the worker run its turns itself again until it stops.</summary>
    public void EndScript() => _turns.Add(null);

    /// <summary>Connects a client in a turn of its own.</summary>
    public ClientConnection Connect()
    {
        Turn(_accept);
        return _latest;
    }

    /// <summary>Delivers bytes of the client. Called within a turn.</summary>
    public void Receive(ClientConnection connection, string text)
    {
        byte[] bytes = Encoding.ASCII.GetBytes(text);
        var buffer = (byte*)NativeMemory.Alloc((nuint)bytes.Length);
        _received.Add(((nint)buffer, bytes.Length));
        bytes.CopyTo(new Span<byte>(buffer, bytes.Length));
        _worker.OnReceived(connection, buffer, bytes.Length);
    }

    public override void Open(IIoWorker worker) => _worker = (Worker)worker;

    public override void Listen(Listener listener) => _accept = () => _worker.OnAccepted(listener, new AcceptedSocket(-1));

    public override void StopListening()
    {
    }

    public override void RetryAccept()
    {
    }

    public override IoChannel Adopt(AcceptedSocket socket, IIoConnection connection)
    {
        _latest = (ClientConnection)connection;
        return new Channel(_latest);
    }

    public override bool Collect(int timeoutMs)
    {
        Action? arrives = null;
        if (_isScripted)
        {
            _turned.Release();
            arrives = _turns.Take();
            _isScripted = arrives is not null;
        }
        else if (timeoutMs != 0)
        {
            _woken.Wait(timeoutMs);
        }

        _worker.OnAwake();
        arrives?.Invoke();
        return true;
    }

    public override void Flush() => OnFlush();

    public override void EndTurn()
    {
        foreach ((nint buffer, int bytes) in _received)
        {
            new Span<byte>((void*)buffer, bytes).Clear(); // Clears the rest, so that a request read beyond the turn is not one of the test's.
            NativeMemory.Free((void*)buffer);
        }

        _received.Clear();
    }

    public override void Wake() => _woken.Release();

    public override void Dispose()
    {
        _turns.Dispose();
        _turned.Dispose();
        _woken.Dispose();
    }

    private void WaitForTurn()
    {
        if (!_turned.Wait(Patience))
        {
            throw new TimeoutException("The turn did not end.");
        }
    }

    private sealed class Channel(ClientConnection connection) : IoChannel
    {
        public override int Descriptor => -1;

        public override IPEndPoint? Remote => null;

        public override IPEndPoint? Local => null;

        public override void Start()
        {
        }

        public override void Send()
        {
            long bytes = connection.WireOutput.UnsentBytes;
            connection.WireOutput.Sent(bytes);
            connection.CountSent(bytes);
        }

        public override void PauseReceive()
        {
        }

        public override void ResumeReceive()
        {
        }

        public override void ShutdownSend()
        {
        }

        public override bool Close(bool isHard) => true;
    }
}
