using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Cairn.Caching.AspNetCore.HybridOutput;

// Buffers the body until the endpoint has ended. Only then is it known whether the response may be kept. Until then, an error can still
// become a proper response. If the body exceeds the limit or must not be buffered, it goes to the client as the endpoint writes it.
//
//   Recording --limit exceeded, or Pass--> Passing

/// <summary>The body of a response while the endpoint writes it.</summary>
internal sealed class ResponseRecording(IHttpResponseBodyFeature target, int maximumBytes) : Stream
{
    private const int FirstBytes = 4_096;
    private const int NothingHeld = -1;

    private int _mostBytes = maximumBytes;
    private byte[] _bytes = ArrayPool<byte>.Shared.Rent(FirstBytes);
    private int _length;

    public bool IsPassing { get; private set; }

    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, _length);

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>Sends the buffered bytes. Later writes are not buffered.</summary>
    public async ValueTask PassAsync(CancellationToken cancellationToken)
    {
        if (!IsPassing)
        {
            IsPassing = true;
            if (_length > 0)
            {
                await target.Stream.WriteAsync(_bytes.AsMemory(0, _length), cancellationToken).ConfigureAwait(false);
            }
        }
    }

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (!IsPassing)
        {
            if (TryAppend(buffer.Span))
            {
                return;
            }

            await PassAsync(cancellationToken).ConfigureAwait(false);
        }

        await target.Stream.WriteAsync(buffer, cancellationToken).ConfigureAwait(false);
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    // A server refuses synchronous writes unless it is configured to allow them. Here they fail only once they would reach the server.
    public override void Write(ReadOnlySpan<byte> buffer)
    {
        if (!IsPassing)
        {
            if (TryAppend(buffer))
            {
                return;
            }

            IsPassing = true;
            target.Stream.Write(Written);
        }

        target.Stream.Write(buffer);
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <summary>Stops buffering at the next write or flush.</summary>
    public void StopHolding() => _mostBytes = NothingHeld;

    public override Task FlushAsync(CancellationToken cancellationToken) =>
        IsPassing ? target.Stream.FlushAsync(cancellationToken)
        : _mostBytes == NothingHeld ? PassAndFlushAsync(cancellationToken)
        : Task.CompletedTask;

    public override void Flush()
    {
        if (IsPassing)
        {
            target.Stream.Flush();
        }
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    /// <summary>Returns the buffer to its pool. No write may follow.</summary>
    public void Release()
    {
        byte[] bytes = _bytes;
        _bytes = [];
        _length = 0;
        ArrayPool<byte>.Shared.Return(bytes);
    }

    private async Task PassAndFlushAsync(CancellationToken cancellationToken)
    {
        await PassAsync(cancellationToken).ConfigureAwait(false);
        await target.Stream.FlushAsync(cancellationToken).ConfigureAwait(false);
    }

    private bool TryAppend(ReadOnlySpan<byte> buffer)
    {
        if (buffer.Length > _mostBytes - _length)
        {
            return false;
        }

        if (buffer.Length > _bytes.Length - _length)
        {
            byte[] larger = ArrayPool<byte>.Shared.Rent(Math.Max(_length + buffer.Length, (int)Math.Min(2L * _bytes.Length, _mostBytes)));
            Written.CopyTo(larger);
            ArrayPool<byte>.Shared.Return(_bytes);
            _bytes = larger;
        }

        buffer.CopyTo(_bytes.AsSpan(_length));
        _length += buffer.Length;
        return true;
    }
}

/// <summary>Replaces the body of a response with a recording.</summary>
internal sealed class RecordingBodyFeature(ResponseRecording recording, IHttpResponseBodyFeature target) : StreamResponseBodyFeature(recording)
{
    // An endpoint that streams events needs each of them sent at once.
    public override void DisableBuffering()
    {
        recording.StopHolding();
        target.DisableBuffering();
    }
}
