namespace Cairn;

/// <summary>A stream that reads a pinned value.</summary>
internal sealed class PinnedValueStream(PinnedValue pinned) : Stream
{
    private int _position;

    public override bool CanRead => true;

    public override bool CanSeek => true;

    public override bool CanWrite => false;

    public override long Length => pinned.Value.Length;

    public override long Position
    {
        get => _position;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, int.MaxValue);
            _position = (int)value;
        }
    }

    public override int Read(Span<byte> buffer)
    {
        ReadOnlySpan<byte> rest = pinned.Value[Math.Min(_position, pinned.Value.Length)..];
        int count = Math.Min(rest.Length, buffer.Length);
        rest[..count].CopyTo(buffer);
        _position += count;
        return count;
    }

    public override int Read(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        return Read(buffer.AsSpan(offset, count));
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested
            ? Task.FromCanceled<int>(cancellationToken)
            : Task.FromResult(Read(buffer, offset, count));

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled<int>(cancellationToken)
            : ValueTask.FromResult(Read(buffer.Span));

    public override long Seek(long offset, SeekOrigin origin) => Position = offset + origin switch
    {
        SeekOrigin.Begin => 0,
        SeekOrigin.Current => _position,
        SeekOrigin.End => Length,
        _ => throw new ArgumentOutOfRangeException(nameof(origin), origin, "Not a way to seek."),
    };

    public override void Flush()
    {
        // The stream has no buffer to flush.
    }

    public override void SetLength(long value) => throw new NotSupportedException("A stored value cannot be changed through a stream.");

    public override void Write(byte[] buffer, int offset, int count) =>
        throw new NotSupportedException("A stored value cannot be changed through a stream.");

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            pinned.Dispose();
        }

        base.Dispose(disposing);
    }
}
