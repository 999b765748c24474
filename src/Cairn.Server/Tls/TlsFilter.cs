// TLS between a connection's session and its channel, whatever the loop: bytes that arrive are decrypted into the
// connection's input, and its output is encrypted into its wire output. SslStream does the work, driven by the worker:
// each of its steps runs when the worker offers bytes or writes, on the worker's thread, until it needs more.
//
//   Handshaking --done--> Established --close--> Shut
//        |                    |
//        +------ failed ------+--> Failed: the alert is sent, and the connection closed
//
// A silent connection holds no buffer of ours, and none of SslStream's: it waits with an empty read.
using System.Net.Security;
using Cairn.Server.Connections;

namespace Cairn.Server.Tls;

internal sealed class TlsFilter : IDisposable
{
    private const int RecordBytes = 16 << 10;

    private readonly Worker _worker;
    private readonly ClientConnection _connection;
    private readonly TlsTransport _transport;
    private readonly SslStream _stream;
    private bool _isWriting;
    private bool _isShut;
    private bool _hasFailed;

    public TlsFilter(Worker worker, ClientConnection connection)
    {
        _worker = worker;
        _connection = connection;
        var wire = new OutputBuffer(worker.Arena);
        connection.WireOutput = wire;
        connection.Output.Downstream = wire;
        _transport = new TlsTransport(worker, wire);
        _stream = new SslStream(_transport, leaveInnerStreamOpen: true);
    }

    /// <summary>Whether the handshake is done.</summary>
    public bool IsEstablished { get; private set; }

    /// <summary>"Tls13" and the cipher suite, for lists; null before the handshake is done. Any thread.</summary>
    public string? Protocol { get; private set; }

    /// <summary>The subject of the client's certificate; null if it showed none. Any thread.</summary>
    public string? ClientName { get; private set; }

    /// <summary>Whether SslStream holds a part of the output, to encrypt it later.</summary>
    public bool IsWriting => _isWriting;

    /// <summary>Begins the handshake, which goes on as bytes arrive.</summary>
    public void Start(CertificateSource certificates) => _ = RunAsync(certificates.Current);

    /// <summary>Decrypts what arrived, as far as it goes.</summary>
    public unsafe void Receive(byte* bytes, int count)
    {
        _ = _transport.Offer(bytes, count); // What nobody reads came after the end.
        _worker.MakeReady(_connection); // There is input now, or an answer of the handshake to be sent.
    }

    public void EndInput()
    {
        _transport.End();
        _worker.MakeReady(_connection);
    }

    /// <summary>Encrypts what the session wrote.</summary>
    /// <param name="isLast">Whether nothing comes after it.</param>
    public void Encrypt(bool isLast)
    {
        OutputBuffer output = _connection.Output;
        if (_hasFailed || (isLast && !IsEstablished))
        {
            output.Clear(); // It can go nowhere.
            return;
        }

        if (!IsEstablished || _isWriting || _isShut)
        {
            return;
        }

        while (output.First is { } segment)
        {
            int count = segment.Length;
            ValueTask write = _stream.WriteAsync(segment.Memory, CancellationToken.None);
            if (!write.IsCompletedSuccessfully)
            {
                // Somebody else of SslStream's writes (a key update); it goes on when that is done.
                _isWriting = true;
                _ = FinishWriteAsync(write, count);
                return;
            }

            output.Sent(count);
        }

        if (isLast)
        {
            _isShut = true;
            _ = ShutAsync();
        }
    }

    public void Dispose()
    {
        _hasFailed = true; // Whatever is under way finds that it is over.
        _transport.End();
        _stream.Dispose();
        _transport.Dispose();
    }

    private async Task RunAsync(SslServerAuthenticationOptions options)
    {
        try
        {
            await _stream.AuthenticateAsServerAsync(options, CancellationToken.None).ConfigureAwait(false);
            Protocol = $"{_stream.SslProtocol} {_stream.NegotiatedCipherSuite}";
            ClientName = _stream.RemoteCertificate?.Subject;
            IsEstablished = true;
            while (await ReceiveRecordAsync().ConfigureAwait(false))
            {
            }

            if (!_hasFailed)
            {
                _connection.IsInputEnded = true;
            }
        }
#pragma warning disable CA1031 // Whatever goes wrong in one connection's business ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            Fail(e);
        }
    }

    private async ValueTask<bool> ReceiveRecordAsync()
    {
        _ = await _stream.ReadAsync(Memory<byte>.Empty, CancellationToken.None).ConfigureAwait(false);
        Block block = _worker.Pool.Rent(RecordBytes);
        try
        {
            int count = await _stream.ReadAsync(block.Memory, CancellationToken.None).ConfigureAwait(false);
            if (count > 0 && _connection.State == ConnectionState.Open)
            {
                _connection.Append(block.Span[..count]);
            }

            return count > 0;
        }
        finally
        {
            _worker.Pool.Return(block);
        }
    }

    private async Task FinishWriteAsync(ValueTask write, int count)
    {
        try
        {
            await write.ConfigureAwait(false);
            if (!_hasFailed)
            {
                _isWriting = false; // Before the connection is served again.
                _connection.Output.Sent(count);
                _worker.MakeReady(_connection);
            }
        }
#pragma warning disable CA1031 // As above.
        catch (Exception e)
#pragma warning restore CA1031
        {
            Fail(e);
        }
        finally
        {
            _isWriting = false;
            if (_connection.State == ConnectionState.Closed)
            {
                _connection.Output.Clear();
            }
        }
    }

    // When the connection has ended, that is why, and known.
    private void Fail(Exception e)
    {
        if (!_hasFailed)
        {
            _hasFailed = true;
            _worker.OnTlsFailed(_connection, e);
        }
    }

    private async Task ShutAsync()
    {
        try
        {
            await _stream.ShutdownAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or InvalidOperationException)
        {
            // The last words are a courtesy.
        }
    }
}
