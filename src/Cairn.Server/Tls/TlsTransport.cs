using System.Threading.Tasks.Sources;
using Cairn.Server.Connections;

namespace Cairn.Server.Tls;

/// <summary>
/// The encrypted side of a TLS connection, as the stream that SslStream reads and writes. Bytes that arrive are offered by the
/// worker and read during that call; what is written goes to the connection's wire output. So reading waits without a thread,
/// writing never waits, and all of it happens on the worker's thread.
/// </summary>
internal sealed unsafe class TlsTransport : Stream, IValueTaskSource<int>
{
    private readonly Worker _worker;
    private readonly OutputBuffer _wire;
    private ManualResetValueTaskSourceCore<int> _reading;
    private Memory<byte> _destination;
    private bool _isReading;
    private bool _isEnded;
    private byte* _offered;
    private int _offeredBytes;

    public TlsTransport(Worker worker, OutputBuffer wire)
    {
        _worker = worker;
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

    /// <summary>Lets these bytes be read until the call returns.</summary>
    /// <returns>How many were not read, because nobody reads any more.</returns>
    public int Offer(byte* bytes, int count)
    {
        _offered = bytes;
        _offeredBytes = count;
        CompleteReading();
        int left = _offeredBytes;
        _offeredBytes = 0;
        return left;
    }

    /// <summary>Nothing more will be offered.</summary>
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
            _reading.SetResult(Take(destination)); // What waits for it runs now, and may read again.
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

    // The bytes offered and the wire belong to the worker. SslStream continues where it is told that something was read, so
    // this holds; if a later version moves elsewhere, connections must fail rather than mix up memory.
    private void ThrowIfElsewhere()
    {
        if (!_worker.IsCurrentThread)
        {
            throw new InvalidOperationException("TLS continued on another thread than its connection's worker.");
        }
    }
}
