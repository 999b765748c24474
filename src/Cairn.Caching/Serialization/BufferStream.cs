namespace Cairn.Caching.Serialization;

/// <summary>A stream that writes to a buffer, for serializers that support only streams.</summary>
internal sealed class BufferStream(IBufferWriter<byte> target) : Stream
{
    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override void Write(ReadOnlySpan<byte> buffer) => target.Write(buffer);

    public override void Write(byte[] buffer, int offset, int count) => target.Write(buffer.AsSpan(offset, count));

    public override void WriteByte(byte value) => target.Write([value]);

    public override void Flush()
    {
        // There is no internal buffer to flush.
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
