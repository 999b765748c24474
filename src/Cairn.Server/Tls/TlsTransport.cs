using System.Threading.Tasks.Sources;
using Cairn.Server.Buffers;

namespace Cairn.Server.Tls;

/// <summary>
/// The encrypted side of a TLS connection, as the stream that SslStream reads and writes. The worker offers received bytes, and SslStream
/// reads them during that call. Written bytes go to the connection's wire output. So reading waits without a thread, writing never waits,
/// and everything happens on the worker's thread.
/// </summary>
internal sealed unsafe class TlsTransport : Stream, IValueTaskSource<int>
{
    private readonly ITlsConnection _connection;
    private readonly OutputBuffer _wire;
    private ManualResetValueTaskSourceCore<int> _reading;
    private Memory<byte> _destination;
    private bool _isReading;
    private bool _isEnded;
    private byte* _offered;
    private int _offeredBytes;

    public TlsTransport(ITlsConnection connection, OutputBuffer wire)
    {
        _connection = connection;
        _wire = wire;
    }

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>Offers bytes to the reader until the call returns.</summary>
    /// <returns>The number of bytes that were not read, because the reader has ended.</returns>
    public int Offer(byte* bytes, int count)
    {
        _offered = bytes;
        _offeredBytes = count;
        CompleteReading();
        int left = _offeredBytes;
        _offeredBytes = 0;
        return left;
    }

    /// <summary>Ends the input: no more bytes will be offered.</summary>
    public void End()
    {
        _isEnded = true;
        CompleteReading();
    }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ThrowIfElsewhere();
        if (_offeredBytes > 0 || _isEnded)
        {
            return new ValueTask<int>(Take(buffer));
        }

        _reading.Reset();
        _destination = buffer;
        _isReading = true;
        return new ValueTask<int>(this, _reading.Version);
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ThrowIfElsewhere();
        _wire.Write(buffer.Span);
        return ValueTask.CompletedTask;
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    int IValueTaskSource<int>.GetResult(short token) => _reading.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _reading.GetStatus(token);

    void IValueTaskSource<int>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _reading.OnCompleted(continuation, state, token, flags);

    private void CompleteReading()
    {
        if (_isReading)
        {
            _isReading = false;
            Memory<byte> destination = _destination;
            _destination = default;
            _reading.SetResult(Take(destination)); // The waiting code runs now, and may read again.
        }
    }

    private int Take(Memory<byte> buffer)
    {
        int count = Math.Min(buffer.Length, _offeredBytes);
        new ReadOnlySpan<byte>(_offered, count).CopyTo(buffer.Span);
        _offered += count;
        _offeredBytes -= count;
        return count;
    }

    // The offered bytes and the wire output belong to the worker. SslStream continues on the thread that completes its read, so it stays
    // on the worker. If a later version of .NET switches threads, connections must fail rather than corrupt memory.
    private void ThrowIfElsewhere()
    {
        if (!_connection.IsOnWorker)
        {
            throw new InvalidOperationException("TLS continued on another thread than its connection's worker.");
        }
    }
}
