using System.Buffers;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Cairn.Caching.AspNetCore.HybridOutput;

// What an endpoint writes, held back until it has ended: only then is it known whether it may be kept, and until then an error can still become a
// proper response. What is longer than the limit, or must not be held back, goes to the client from then on as it comes.
//
//   Recording --limit exceeded, or Pass--> Passing

/// <summary>The body of a response while it is made.</summary>
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

    /// <summary>Sends what was held back; from now on nothing is.</summary>
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

    // Synchronous writing is refused by servers unless they are told otherwise; here it is refused as soon as it would reach one.
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

    /// <summary>Holds nothing back from the next write or flush on.</summary>
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

    /// <summary>Gives the buffer back. Nothing may be written after it.</summary>
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

/// <summary>Puts a recording in the place of a response's body.</summary>
internal sealed class RecordingBodyFeature(ResponseRecording recording, IHttpResponseBodyFeature target) : StreamResponseBodyFeature(recording)
{
    // Who streams events wants each of them sent at once.
    public override void DisableBuffering()
    {
        recording.StopHolding();
        target.DisableBuffering();
    }
}
