// The inner stream of SslStream. At first it is a plain stream over a blocking socket, which suffices for a handshake. Once detached, it
// does not use the socket: Offer passes bytes to it, which SslStream reads during that call, and written bytes wait until they are sent. So
// one thread can drive any number of connections through SslStream, which sees only asynchronous reads and writes.
//
//   Attached --Detach--> Detached
using System.Net.Sockets;
using System.Threading.Tasks.Sources;

namespace Cairn.Cli.Clients;

internal sealed class SocketStream(Socket socket) : SequentialStream, IValueTaskSource<int>
{
    private bool _isDetached;
    private ManualResetValueTaskSourceCore<int> _reading;
    private Memory<byte> _destination;
    private bool _isReading;
    private ReadOnlyMemory<byte> _offered;
    private byte[] _written = [];
    private int _writtenBytes;

    public override bool CanRead => true;

    public override bool CanWrite => true;

    public void Detach() => _isDetached = true;

    /// <summary>Passes bytes to the reader, which reads them before this call returns.</summary>
    public void Offer(ReadOnlyMemory<byte> bytes)
    {
        _offered = bytes;
        CompleteReading();
    }

    /// <summary>Returns the bytes that were written since the last call; valid until the next write.</summary>
    public ReadOnlySpan<byte> TakeWritten()
    {
        ReadOnlySpan<byte> written = _written.AsSpan(0, _writtenBytes);
        _writtenBytes = 0;
        return written;
    }

    public override int Read(Span<byte> buffer) => socket.Receive(buffer);

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (!_isDetached)
        {
            return new ValueTask<int>(Read(buffer.Span));
        }

        if (_offered.Length > 0)
        {
            return new ValueTask<int>(TakeOffered(buffer.Span));
        }

        _reading.Reset();
        _destination = buffer;
        _isReading = true;
        return new ValueTask<int>(this, _reading.Version);
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        if (!_isDetached)
        {
            while (!buffer.IsEmpty)
            {
                buffer = buffer[socket.Send(buffer)..];
            }

            return;
        }

        if (_written.Length - _writtenBytes < buffer.Length)
        {
            Array.Resize(ref _written, Math.Max(_written.Length * 2, _writtenBytes + buffer.Length));
        }

        buffer.CopyTo(_written.AsSpan(_writtenBytes));
        _writtenBytes += buffer.Length;
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        Write(buffer.Span);
        return ValueTask.CompletedTask;
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        Write(buffer.AsSpan(offset, count));
        return Task.CompletedTask;
    }

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override void Flush()
    {
    }

    int IValueTaskSource<int>.GetResult(short token) => _reading.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _reading.GetStatus(token);

    void IValueTaskSource<int>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _reading.OnCompleted(continuation, state, token, flags);

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            socket.Dispose();
        }

        base.Dispose(disposing);
    }

    private void CompleteReading()
    {
        if (_isReading)
        {
            _isReading = false;
            Memory<byte> destination = _destination;
            _destination = default;

            // The continuation runs within this call, and may read again.
            _reading.SetResult(TakeOffered(destination.Span));
        }
    }

    private int TakeOffered(Span<byte> buffer)
    {
        int count = Math.Min(buffer.Length, _offered.Length);
        _offered.Span[..count].CopyTo(buffer);
        _offered = _offered[count..];
        return count;
    }
}
