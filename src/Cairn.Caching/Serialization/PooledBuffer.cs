namespace Cairn.Caching.Serialization;

// A buffer from the shared pool that is written sequentially, and whose written part can be changed afterwards. Spans and memory of it are
// valid until it grows, is reset or disposed.
internal sealed class PooledBuffer(int maxBytes = int.MaxValue) : IBufferWriter<byte>, IDisposable
{
    private const int SmallestBytes = 256;

    private byte[] _array = [];

    /// <summary>The maximum number of bytes; a write beyond it throws <see cref="PayloadTooLargeException"/>.</summary>
    public int MaxBytes { get; set; } = maxBytes;

    public int WrittenBytes { get; private set; }

    /// <summary>True once a write was refused because of the limit, even if a caller has caught the exception.</summary>
    public bool HasOverflowed { get; private set; }

    /// <summary>The number of bytes by which the refused write exceeded the limit; the complete value may exceed it by more.</summary>
    public long ExcessBytes { get; private set; }

    public ReadOnlyMemory<byte> WrittenMemory => _array.AsMemory(0, WrittenBytes);

    public ReadOnlySpan<byte> WrittenSpan => _array.AsSpan(0, WrittenBytes);

    /// <summary>The written bytes, which may be changed.</summary>
    public Span<byte> Written => _array.AsSpan(0, WrittenBytes);

    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (count > _array.Length - WrittenBytes)
        {
            throw new InvalidOperationException($"{count} bytes were written into a span of {_array.Length - WrittenBytes}.");
        }

        if (count > MaxBytes - WrittenBytes)
        {
            Overflow((long)WrittenBytes + count, MaxBytes);
        }

        WrittenBytes += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _array.AsMemory(WrittenBytes);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _array.AsSpan(WrittenBytes);
    }

    public void Write(ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(GetSpan(bytes.Length));
        Advance(bytes.Length);
    }

    /// <summary>Discards everything after the given number of bytes.</summary>
    public void Truncate(int bytes)
    {
        Debug.Assert(bytes >= 0 && bytes <= WrittenBytes, "What was not written cannot be kept.");

        WrittenBytes = bytes;
        HasOverflowed = false;
    }

    /// <summary>Discards the content and keeps the memory.</summary>
    public void Reset() => Truncate(0);

    /// <summary>Returns the memory to the pool. The buffer is empty afterwards, and can be used again.</summary>
    public void Dispose()
    {
        byte[] array = _array;
        _array = [];
        Reset();
        if (array.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    [DoesNotReturn]
    private void Overflow(long bytes, int maxBytes)
    {
        HasOverflowed = true;
        ExcessBytes = bytes - maxBytes;
        throw new PayloadTooLargeException(bytes, maxBytes);
    }

    private void Reserve(int sizeHint)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        if (Math.Max(1, sizeHint) > _array.Length - WrittenBytes)
        {
            Grow(sizeHint);
        }
    }

    private void Grow(int sizeHint)
    {
        long needed = (long)WrittenBytes + Math.Max(1, sizeHint);
        if (needed > Array.MaxLength)
        {
            Overflow(needed, Array.MaxLength);
        }

        long wanted = Math.Min(Math.Max(Math.Max(needed, 2L * _array.Length), SmallestBytes), Array.MaxLength);
        byte[] larger = ArrayPool<byte>.Shared.Rent((int)wanted);
        WrittenSpan.CopyTo(larger);
        byte[] smaller = _array;
        _array = larger;
        if (smaller.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(smaller);
        }
    }
}
