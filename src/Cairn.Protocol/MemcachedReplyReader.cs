using Cairn.Protocol.Memcached;

namespace Cairn.Protocol;

/// <summary>Reads the replies of memcached's text protocol for a client, in place and without allocating.</summary>
/// <remarks>
/// A reply that violates the protocol is fatal: the client can no longer match replies to requests. All members are safe from any thread.
/// </remarks>
internal static class MemcachedReplyReader
{
    /// <summary>The default limit of a line, in bytes.</summary>
    public const int DefaultMaxLineBytes = 64 << 10;

    /// <summary>Reads the reply at the start of <paramref name="input"/>.</summary>
    /// <param name="input">The bytes that have arrived and are not consumed.</param>
    /// <param name="reply">
    /// The reply; its ranges point into <paramref name="input"/>. With <see cref="ParseStatus.IncompleteValue"/>, everything except the
    /// data block; <see cref="MemcachedReply.TotalBytes"/> then is the required length of the input.
    /// </param>
    /// <param name="consumed">The length of the reply in bytes; 0 unless it is complete.</param>
    /// <param name="searchedBytes">
    /// The length of the input for which an earlier call returned <see cref="ParseStatus.Incomplete"/>. 0 is always valid.
    /// </param>
    /// <param name="maxLineBytes">The longest line, in bytes.</param>
    public static ParseStatus TryRead(
        ReadOnlySpan<byte> input,
        out MemcachedReply reply,
        out int consumed,
        int searchedBytes = 0,
        int maxLineBytes = DefaultMaxLineBytes)
    {
        reply = default;
        consumed = 0;

        int found = input[searchedBytes..].IndexOf((byte)'\n');
        int lineEnd = found < 0 ? input.Length : searchedBytes + found;
        if (lineEnd > maxLineBytes)
        {
            return ParseStatus.Fatal;
        }

        if (found < 0)
        {
            return ParseStatus.Incomplete;
        }

        var line = input[..(lineEnd > 0 && input[lineEnd - 1] == '\r' ? lineEnd - 1 : lineEnd)];
        reply.LineBytes = lineEnd + 1;
        if (!ReplyLines.TryRead(line, ref reply))
        {
            return ParseStatus.Fatal;
        }

        long total = reply.TotalBytes;
        if (input.Length < total)
        {
            return total <= int.MaxValue ? ParseStatus.IncompleteValue : ParseStatus.Fatal;
        }

        if (reply.HasValue && BinaryPrimitives.ReadUInt16LittleEndian(input[reply.Value.End..]) != ('\r' | ('\n' << 8)))
        {
            return ParseStatus.Fatal;
        }

        consumed = (int)total;
        return ParseStatus.Complete;
    }
}
