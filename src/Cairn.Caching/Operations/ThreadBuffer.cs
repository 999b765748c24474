using Cairn.Caching.Serialization;

namespace Cairn.Caching.Operations;

/// <summary>Lends buffers for envelopes. Each thread keeps one buffer, unless it is too large.</summary>
internal static class ThreadBuffer
{
    private const int LargestKeptBytes = 64 << 10;

    [ThreadStatic]
    private static PooledBuffer? t_buffer;

    public static PooledBuffer Take()
    {
        PooledBuffer buffer = t_buffer ?? new PooledBuffer();
        t_buffer = null;
        return buffer;
    }

    /// <summary>Returns a buffer, on any thread.</summary>
    public static void Return(PooledBuffer buffer)
    {
        if (buffer.WrittenBytes > LargestKeptBytes || t_buffer is not null)
        {
            buffer.Dispose();
            return;
        }

        buffer.Reset();
        t_buffer = buffer;
    }
}
