using System.Buffers;
using System.Diagnostics;

namespace Cairn.Caching.Serialization;

// A buffer from the shared pool that is written from front to back, and whose written part can be changed afterwards. What was
// taken of it is valid until it grows, is reset or disposed.
internal sealed class PooledBuffer(int maxBytes = int.MaxValue) : IBufferWriter<byte>, IDisposable
{
    private const int SmallestBytes = 256;

    private byte[] _array = [];

    /// <summary>The most that may be written; what would go beyond throws <see cref="PayloadTooLargeException"/>.</summary>
    public int MaxBytes { get; set; } = maxBytes;

    public int WrittenBytes { get; private set; }

    public ReadOnlyMemory<byte> WrittenMemory => _array.AsMemory(0, WrittenBytes);

    public ReadOnlySpan<byte> WrittenSpan => _array.AsSpan(0, WrittenBytes);

    /// <summary>What was written, to be changed.</summary>
    public Span<byte> Written => _array.AsSpan(0, WrittenBytes);

    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (count > _array.Length - WrittenBytes)
        {
            throw new InvalidOperationException($"{count} bytes were written where {_array.Length - WrittenBytes} had been asked for.");
        }

        // Kept even if it is too much, so that a writer that swallows the exception is found out by WrittenBytes.
        WrittenBytes += count;
        if (WrittenBytes > MaxBytes)
        {
            throw new PayloadTooLargeException(WrittenBytes, MaxBytes);
        }
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

    /// <summary>Forgets what was written beyond that many bytes.</summary>
    public void Truncate(int bytes)
    {
        Debug.Assert(bytes >= 0 && bytes <= WrittenBytes, "What was not written cannot be kept.");

        WrittenBytes = bytes;
    }

    /// <summary>Forgets what was written; the memory is kept.</summary>
    public void Reset() => WrittenBytes = 0;

    /// <summary>Gives the memory back. The buffer is empty afterwards, and can be used again.</summary>
    public void Dispose()
    {
        byte[] array = _array;
        _array = [];
        WrittenBytes = 0;
        if (array.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(array);
        }
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
            throw new PayloadTooLargeException(needed, Math.Min(MaxBytes, Array.MaxLength));
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
