using System.IO.Compression;

namespace Cairn.Caching.Serialization;

/// <summary>Brotli compression of payloads, used only if it saves enough, and limited when read.</summary>
internal static class Compression
{
    // Saving less than an eighth is not worth the reader's time.
    private const int SavedShare = 8;

    private const int MinWindowBits = 10;
    private const int MaxWindowBits = 22;

    /// <summary>Compresses the buffer's content from <paramref name="start"/> on, in place, if that saves an eighth.</summary>
    public static bool TryCompress(PooledBuffer buffer, int start, int quality)
    {
        ReadOnlySpan<byte> payload = buffer.WrittenSpan[start..];
        int most = payload.Length - Math.Max(1, payload.Length / SavedShare);
        byte[] compressed = ArrayPool<byte>.Shared.Rent(most);
        try
        {
            int windowBits = Math.Clamp(BitOperations.Log2((uint)payload.Length) + 1, MinWindowBits, MaxWindowBits);
            if (!BrotliEncoder.TryCompress(payload, compressed.AsSpan(0, most), out int written, quality, windowBits))
            {
                return false;
            }

            compressed.AsSpan(0, written).CopyTo(buffer.Written[start..]);
            buffer.Truncate(start + written);
            return true;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(compressed);
        }
    }

    /// <summary>Decompresses into exactly the target. A shorter or longer payload is refused.</summary>
    public static bool TryDecompress(ReadOnlySpan<byte> compressed, Span<byte> target)
    {
        using var decoder = default(BrotliDecoder);
        OperationStatus status = decoder.Decompress(compressed, target, out int consumed, out int written);
        return status == OperationStatus.Done && consumed == compressed.Length && written == target.Length;
    }
}
