// TLS between a connection's session and its channel, for every loop. Received bytes are decrypted into the connection's input. The
// connection's output is encrypted into its wire output. SslStream does the work, driven by the worker: each of its steps runs on the
// worker's thread, when the worker offers bytes or writes, until the step needs more.
//
//   Handshaking --done--> Established --close--> Shut
//        |                    |
//        +------ failed ------+--> Failed: the alert is sent, and the connection closed
//
// A silent connection holds no buffer of this class or of SslStream: it waits with an empty read. A connection that has sent a part of a
// record holds a buffer of SslStream. The buffer counts as the connection's memory, and the time limit of a request applies.
using System.Net.Security;
using Cairn.Server.Buffers;

namespace Cairn.Server.Tls;

internal sealed class TlsFilter : IDisposable
{
    private const int RecordBytes = 16 << 10;

    // The memory that SslStream takes from its pool for a record, including header and trailer.
    private const int HeldRecordBytes = 32 << 10;

    private readonly ITlsConnection _connection;
    private readonly TlsTransport _transport;
    private readonly SslStream _stream;
    private TlsRecords _records;
    private bool _isRecordCounted;
    private bool _isWriting;
    private bool _isShut;
    private bool _hasFailed;

    /// <summary>Creates a filter that has sent and received nothing.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="wire">The output for encrypted bytes.</param>
    public TlsFilter(ITlsConnection connection, OutputBuffer wire)
    {
        _connection = connection;
        _transport = new TlsTransport(connection, wire);
        _stream = new SslStream(_transport, leaveInnerStreamOpen: true);
    }

    /// <summary>Gets whether the handshake is complete.</summary>
    public bool IsEstablished { get; private set; }

    /// <summary>Gets whether SslStream holds a part of the output, to encrypt it later.</summary>
    public bool IsWriting => _isWriting;

    /// <summary>Gets whether only a part of a record has arrived.</summary>
    public bool IsWithinRecord => _records.IsWithin;

    /// <summary>Begins the handshake, which continues as bytes arrive.</summary>
    public void Start(CertificateSource certificates) => _ = RunAsync(certificates.Current);

    /// <summary>Decrypts received bytes as far as possible.</summary>
    public unsafe void Receive(byte* bytes, int count)
    {
        _records.Follow(new ReadOnlySpan<byte>(bytes, count));
        if (_records.IsWithin != _isRecordCounted)
        {
            _isRecordCounted = _records.IsWithin;
            _connection.Charge(_isRecordCounted ? HeldRecordBytes : -HeldRecordBytes);
        }

        _ = _transport.Offer(bytes, count); // Bytes that are not read came after the end.
        _connection.MakeReady(); // There may be input now, or an answer of the handshake to send.
    }

    public void EndInput()
    {
        _transport.End();
        _connection.MakeReady();
    }

    /// <summary>Encrypts the session's output.</summary>
    /// <param name="isLast">Whether no more output follows.</param>
    public void Encrypt(bool isLast)
    {
        OutputBuffer output = _connection.Output;
        if (_hasFailed || (isLast && !IsEstablished))
        {
            output.Clear(); // It cannot be sent.
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
                // SslStream itself is writing (a key update). This write continues afterwards.
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
        _hasFailed = true; // Tells the operations in progress that the connection has ended.
        _transport.End();
        _stream.Dispose();
        _transport.Dispose();
    }

    private async Task RunAsync(SslServerAuthenticationOptions options)
    {
        try
        {
            await _stream.AuthenticateAsServerAsync(options, CancellationToken.None).ConfigureAwait(false);
            IsEstablished = true;
            while (await ReceiveRecordAsync().ConfigureAwait(false))
            {
            }

            if (!_hasFailed)
            {
                _connection.EndInput();
            }
        }
#pragma warning disable CA1031 // An exception in the code of one connection ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            Fail(e);
        }
    }

    private async ValueTask<bool> ReceiveRecordAsync()
    {
        _ = await _stream.ReadAsync(Memory<byte>.Empty, CancellationToken.None).ConfigureAwait(false);
        Block block = _connection.Pool.Rent(RecordBytes);
        try
        {
            int count = await _stream.ReadAsync(block.Memory, CancellationToken.None).ConfigureAwait(false);
            if (count > 0 && _connection.IsOpen)
            {
                _connection.Append(block.Span[..count]);
            }

            return count > 0;
        }
        finally
        {
            _connection.Pool.Return(block);
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
                _connection.MakeReady();
            }
        }
#pragma warning disable CA1031 // An exception in the code of one connection ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            Fail(e);
        }
        finally
        {
            _isWriting = false;
            if (_connection.IsClosed)
            {
                _connection.Output.Clear();
            }
        }
    }

    // If the connection has ended, the exception is a result of that, and is not reported.
    private void Fail(Exception e)
    {
        if (!_hasFailed)
        {
            _hasFailed = true;
            _connection.OnFailed(e);
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
            // The closing alert is optional.
        }
    }
}
