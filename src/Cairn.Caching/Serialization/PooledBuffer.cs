using System.Buffers;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

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

    /// <summary>True once something was refused as too much, whatever became of the exception on its way.</summary>
    public bool HasOverflowed { get; private set; }

    /// <summary>How many bytes more than may be written were to be written when it overflowed, at least.</summary>
    public long ExcessBytes { get; private set; }

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

    /// <summary>Forgets what was written beyond that many bytes.</summary>
    public void Truncate(int bytes)
    {
        Debug.Assert(bytes >= 0 && bytes <= WrittenBytes, "What was not written cannot be kept.");

        WrittenBytes = bytes;
        HasOverflowed = false;
    }

    /// <summary>Forgets what was written; the memory is kept.</summary>
    public void Reset() => Truncate(0);

    /// <summary>Gives the memory back. The buffer is empty afterwards, and can be used again.</summary>
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
