// The socket side of a connection: it sends requests, keeps bytes that the kernel does not accept yet, and decrypts input of TLS
// connections. It never blocks. Only one worker uses it.
using System.Net.Security;
using System.Net.Sockets;
using Cairn.Cli.Clients;

namespace Cairn.Cli.Load;

internal sealed class LoadWire : IDisposable
{
    private const int RecordBytes = 16 << 10;

    private readonly ServerLink _link;
    private readonly SslStream? _tls;
    private byte[] _unsent = [];
    private int _unsentStart;
    private int _unsentEnd;
    private LoadConnection? _receiver;
    private long _receivedAt;
    private Exception? _tlsFailure;

    public LoadWire(ServerLink link)
    {
        _link = link;
        _tls = link.Tls;
        link.Socket.Blocking = false;
        if (_tls is not null)
        {
            link.Inner.Detach();
            _ = DecryptAsync(_tls);
        }
    }

    public Socket Socket => _link.Socket;

    /// <summary>Gets a value that says whether bytes wait to be sent. <see cref="Send"/> must not be called then.</summary>
    public bool HasUnsent => _unsentEnd > _unsentStart;

    /// <summary>Sends as many bytes as the kernel accepts, and keeps the rest.</summary>
    /// <exception cref="SocketException">The connection is lost.</exception>
    public void Send(ReadOnlySpan<byte> bytes)
    {
        if (_tls is not null)
        {
            _tls.Write(bytes);
            bytes = _link.Inner.TakeWritten();
        }

        int sent = TrySend(bytes);
        if (sent < bytes.Length)
        {
            Keep(bytes[sent..]);
        }
    }

    /// <summary>Continues with the bytes that were kept.</summary>
    /// <exception cref="SocketException">The connection is lost.</exception>
    public void SendUnsent()
    {
        _unsentStart += TrySend(_unsent.AsSpan(_unsentStart, _unsentEnd - _unsentStart));
        if (!HasUnsent)
        {
            _unsentStart = _unsentEnd = 0;
        }
    }

    /// <summary>Passes arrived bytes to a connection.</summary>
    /// <param name="receiver">The connection.</param>
    /// <param name="buffer">The buffer for the bytes.</param>
    /// <param name="now">Receives the time of arrival.</param>
    /// <returns>False if the input is not a reply.</returns>
    /// <exception cref="SocketException">The connection is lost.</exception>
    /// <exception cref="IOException">The connection is lost.</exception>
    public bool Receive(LoadConnection receiver, byte[] buffer, out long now)
    {
        int count = Socket.Receive(buffer, SocketFlags.None, out SocketError error);
        now = LoadJob.Now;
        if (error == SocketError.WouldBlock)
        {
            return true;
        }

        if (error != SocketError.Success || count == 0)
        {
            throw new SocketException((int)(error == SocketError.Success ? SocketError.ConnectionReset : error));
        }

        if (_tls is null)
        {
            return receiver.Receive(buffer.AsSpan(0, count), now);
        }

        _receiver = receiver;
        _receivedAt = now;
        _link.Inner.Offer(buffer.AsMemory(0, count));
        return _tlsFailure is null ? receiver.ProtocolViolation is null : throw new IOException(_tlsFailure.Message, _tlsFailure);
    }

    public void Dispose() => _link.Dispose();

    // Runs on the worker's thread when bytes are offered, until it needs more.
    private async Task DecryptAsync(SslStream tls)
    {
        byte[] buffer = new byte[RecordBytes];
        try
        {
            int count;
            while ((count = await tls.ReadAsync(buffer, CancellationToken.None).ConfigureAwait(false)) > 0)
            {
                _ = _receiver!.ProtocolViolation is null && _receiver.Receive(buffer.AsSpan(0, count), _receivedAt);
            }

            _tlsFailure = new IOException("the server closed the connection");
        }
#pragma warning disable CA1031 // The worker reads the failure later.
        catch (Exception failure)
#pragma warning restore CA1031
        {
            _tlsFailure = failure;
        }
    }

    private int TrySend(ReadOnlySpan<byte> bytes)
    {
        int sent = Socket.Send(bytes, SocketFlags.None, out SocketError error);
        return error switch
        {
            SocketError.Success => sent,
            SocketError.WouldBlock => 0,
            _ => throw new SocketException((int)error),
        };
    }

    private void Keep(ReadOnlySpan<byte> bytes)
    {
        if (_unsent.Length - _unsentEnd < bytes.Length)
        {
            Array.Resize(ref _unsent, _unsentEnd + bytes.Length);
        }

        bytes.CopyTo(_unsent.AsSpan(_unsentEnd));
        _unsentEnd += bytes.Length;
    }
}
