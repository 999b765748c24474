namespace Cairn.Maps;

/// <summary>A growing buffer with an array from the pool. Each thread keeps the buffers that it has created.</summary>
internal sealed class PooledWriter : IBufferWriter<byte>
{
    private const int FirstBytes = 1024;
    private const int LongestKeptBytes = 1 << 20;

    [ThreadStatic]
    private static PooledWriter? t_free;

    private PooledWriter? _next;
    private byte[] _buffer = [];
    private int _written;

    private PooledWriter()
    {
    }

    public ReadOnlySpan<byte> Written => _buffer.AsSpan(0, _written);

    /// <summary>Returns an empty buffer. This thread owns it until it is returned.</summary>
    public static PooledWriter Take()
    {
        // The buffer is taken away while it is used, because a serializer can use a map itself.
        PooledWriter writer = t_free ?? new();
        t_free = writer._next;
        return writer;
    }

    public void Return()
    {
        _written = 0;
        if (_buffer.Length > LongestKeptBytes)
        {
            ArrayPool<byte>.Shared.Return(_buffer);
            _buffer = [];
        }

        _next = t_free;
        t_free = this;
    }

    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, _buffer.Length - _written);
        _written += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        MakeRoom(sizeHint);
        return _buffer.AsMemory(_written);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        MakeRoom(sizeHint);
        return _buffer.AsSpan(_written);
    }

    private void MakeRoom(int bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        long needed = _written + (long)Math.Max(bytes, 1);
        if (needed <= _buffer.Length)
        {
            return;
        }

        if (needed > Array.MaxLength)
        {
            throw new ArgumentOutOfRangeException(nameof(bytes), bytes, "The serialized value is longer than an array can be.");
        }

        byte[] larger = ArrayPool<byte>.Shared.Rent((int)Math.Min(Math.Max(needed, Math.Max(FirstBytes, _buffer.Length * 2L)), Array.MaxLength));
        _buffer.AsSpan(0, _written).CopyTo(larger);
        if (_buffer.Length != 0)
        {
            ArrayPool<byte>.Shared.Return(_buffer);
        }

        _buffer = larger;
    }
}
