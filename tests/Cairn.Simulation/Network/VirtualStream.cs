using System.Net.Sockets;
using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Network;

/// <summary>Takes the place of <see cref="NetworkStream"/>.</summary>
public sealed class VirtualStream : Stream
{
    // The kernels of both sides hold this much before a write has to wait.
    private const int Window = 256 << 10;

    private readonly VirtualConnection _connection;
    private readonly Queue<byte[]> _arrived = new();
    private int _offset;
    private TaskCompletionSource<int>? _reading;
    private Memory<byte> _target;
    private TaskCompletionSource? _writing;
    private bool _hasEnded;
    private bool _isReset;
    private bool _isDisposed;

    public VirtualStream(VirtualSocket socket, bool ownsSocket)
    {
        ArgumentNullException.ThrowIfNull(socket);
        _connection = socket.Connection!;
        _connection.Stream = this;
        _connection.Up.Arrived = OnRoom;
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

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_isDisposed || _isReset)
        {
            return ValueTask.FromException<int>(Failure());
        }

        if (_arrived.Count > 0)
        {
            return new(Take(buffer));
        }

        if (_hasEnded)
        {
            return new(0);
        }

        _target = buffer;
        _reading = new TaskCompletionSource<int>();
        return new(_reading.Task);
    }

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_isDisposed || _isReset)
        {
            return ValueTask.FromException(Failure());
        }

        _connection.Up.Send(buffer.Span);
        if (_connection.Up.OnTheWay <= Window)
        {
            return ValueTask.CompletedTask;
        }

        _writing = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        return new(_writing.Task);
    }

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    internal void OnArrival(byte[]? bytes)
    {
        if (_isDisposed || _isReset)
        {
            return;
        }

        if (bytes is null)
        {
            _hasEnded = true;
        }
        else
        {
            _arrived.Enqueue(bytes);
        }

        if (_reading is { } reading)
        {
            _reading = null;
            reading.SetResult(bytes is null ? 0 : Take(_target));
        }
    }

    internal void OnReset()
    {
        if (!_isDisposed && !_isReset)
        {
            _isReset = true;
            Fail();
        }
    }

    protected override void Dispose(bool disposing)
    {
        if (!_isDisposed)
        {
            _isDisposed = true;
            _connection.CloseFromMachine();
            Fail();
        }

        base.Dispose(disposing);
    }

    private Exception Failure() => _isDisposed
        ? new ObjectDisposedException(nameof(NetworkStream))
        : new IOException("Connection reset by peer.", new SocketException((int)SocketError.ConnectionReset));

    private void Fail()
    {
        // Not at once: the caller may hold a lock, and a socket completes its calls on another thread.
        TaskCompletionSource<int>? reading = _reading;
        TaskCompletionSource? writing = _writing;
        (_reading, _writing) = (null, null);
        if (reading is not null || writing is not null)
        {
            Exception failure = Failure();
            World.Current.Here.Post(
                _ =>
                {
                    reading?.TrySetException(failure);
                    writing?.TrySetException(failure);
                },
                null);
        }
    }

    private void OnRoom()
    {
        if (_writing is { } writing && _connection.Up.OnTheWay <= Window / 2)
        {
            _writing = null;
            _connection.Machine.Post(_ => writing.TrySetResult(), null);
        }
    }

    private int Take(Memory<byte> buffer)
    {
        byte[] first = _arrived.Peek();
        int length = Math.Min(buffer.Length, first.Length - _offset);
        first.AsMemory(_offset, length).CopyTo(buffer);
        _offset += length;
        if (_offset == first.Length)
        {
            _arrived.Dequeue();
            _offset = 0;
        }

        return length;
    }
}
