using Cairn.Protocol.Memcached;

namespace Cairn.Protocol;

// The reader searches for the end of a line once. Then one of two parsers reads the line:
//   - QuickRequests reads the forms of nearly all traffic (get with one or more keys, set with single spaces, mg) in place, byte by byte.
//     It declines any other form.
//   - WordRequests reads everything else, including errors. It splits the line into words and checks them in memcached's order.
// Both give the same result for lines that both accept; MemcachedReaderTests verifies this.

/// <summary>Reads the requests of memcached's text protocol, including the meta commands, in place and without allocating.</summary>
/// <remarks>
/// The protocol is that of memcached 1.6: doc/protocol.txt of its repository and, if that does not specify a case, the behaviour of 1.6.18.
/// All members are safe from any thread.
/// </remarks>
internal static class MemcachedReader
{
    /// <summary>The length of the longest key, in bytes. For a base64 key, the length of its text.</summary>
    public const int MaxKeyBytes = 250;

    /// <summary>The length of the longest command line without its <c>\n</c>, in bytes. The <c>get</c> family has another limit.</summary>
    public const int MaxLineBytes = 2048;

    /// <summary>The default limit of a command line of the <c>get</c> family, in bytes.</summary>
    public const int DefaultMaxMultigetBytes = 1 << 20;

    private const int MaxLeadingSpaces = 100;
    private const int LongestGetName = 4;

    /// <summary>Reads the request at the start of <paramref name="input"/>.</summary>
    /// <param name="input">The bytes that have arrived and are not consumed.</param>
    /// <param name="request">
    /// The request; its ranges point into <paramref name="input"/>. With <see cref="ParseStatus.IncompleteValue"/>, everything except the
    /// data block; <see cref="MemcachedRequest.TotalBytes"/> then is the required length of the input. With
    /// <see cref="ParseStatus.Malformed"/> and <see cref="ParseStatus.Fatal"/>, the error to reply with.
    /// </param>
    /// <param name="consumed">
    /// The length of the request in bytes, 0 unless it is complete or malformed. If a malformed request has a data block, only the length
    /// of the line; <see cref="MemcachedRequest.SkipBytes"/> is the rest.
    /// </param>
    /// <param name="searchedBytes">
    /// The number of bytes that an earlier call searched, which are not searched again: the length of the input for which it returned
    /// <see cref="ParseStatus.Incomplete"/>. 0 is always valid.
    /// </param>
    /// <param name="maxMultigetBytes">The longest line of the <c>get</c> family, in bytes; at least <see cref="MaxLineBytes"/>.</param>
    public static ParseStatus TryRead(
        ReadOnlySpan<byte> input,
        out MemcachedRequest request,
        out int consumed,
        int searchedBytes = 0,
        int maxMultigetBytes = DefaultMaxMultigetBytes)
    {
        request = default;
        consumed = 0;

        int lineEnd = FindLineEnd(input, searchedBytes);
        if (lineEnd < 0)
        {
            return IsLineTooLong(input, input.Length, maxMultigetBytes) ? LineTooLong(ref request, input) : StartOfLine(ref request, input);
        }

        if (lineEnd > MaxLineBytes && IsLineTooLong(input, lineEnd, maxMultigetBytes))
        {
            return LineTooLong(ref request, input);
        }

        // An empty line is an error with and without the \r.
        var line = input[..(lineEnd > 0 && input[lineEnd - 1] == '\r' ? lineEnd - 1 : lineEnd)];
        request.LineBytes = lineEnd + 1;

        var status = QuickRequests.TryRead(line, ref request) ? ParseStatus.Complete : WordRequests.Read(input, line, ref request);
        if (status != ParseStatus.Complete)
        {
            consumed = status == ParseStatus.Malformed ? request.LineBytes : 0;
            return status;
        }

        if (request.HasValue)
        {
            return FinishValue(input, ref request, out consumed);
        }

        consumed = request.LineBytes;
        return ParseStatus.Complete;
    }

    /// <summary>Returns the reply line of an error with its line end. Empty for errors that only close the connection.</summary>
    /// <param name="error">The error.</param>
    public static ReadOnlySpan<byte> GetErrorText(MemcachedError error) => MemcachedErrorText.Of(error);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int FindLineEnd(ReadOnlySpan<byte> input, int searchedBytes)
    {
        if (searchedBytes == 0)
        {
            return input.IndexOf((byte)'\n');
        }

        ArgumentOutOfRangeException.ThrowIfGreaterThan(searchedBytes, input.Length);
        int found = input[searchedBytes..].IndexOf((byte)'\n');
        return found < 0 ? found : searchedBytes + found;
    }

    // The result depends only on the line, not on how much of it has arrived: the first 2,049 bytes decide whether a longer line is
    // allowed.
    private static bool IsLineTooLong(ReadOnlySpan<byte> input, int length, int maxMultigetBytes) =>
        length > MaxLineBytes && (length > Math.Max(maxMultigetBytes, MaxLineBytes) || !StartsWithGet(input));

    private static bool StartsWithGet(ReadOnlySpan<byte> input)
    {
        int start = input[..(MaxLeadingSpaces + 1)].IndexOfAnyExcept((byte)' ');
        if (start < 0)
        {
            return false;
        }

        int length = input.Slice(start, LongestGetName + 1).IndexOf((byte)' ');
        return length > 0 && WordRequests.IsGetFamily(input.Slice(start, length));
    }

    private static ParseStatus LineTooLong(ref MemcachedRequest request, ReadOnlySpan<byte> input)
    {
        request.Error = input[0] == WordRequests.BinaryMagic ? MemcachedError.BinaryProtocol : MemcachedError.LineTooLong;
        return ParseStatus.Fatal;
    }

    // Reported before the line is complete, because a binary client may wait for a reply before it sends a byte that equals a line end.
    private static ParseStatus StartOfLine(ref MemcachedRequest request, ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty || input[0] != WordRequests.BinaryMagic)
        {
            return ParseStatus.Incomplete;
        }

        request.Error = MemcachedError.BinaryProtocol;
        return ParseStatus.Fatal;
    }

    private static ParseStatus FinishValue(ReadOnlySpan<byte> input, ref MemcachedRequest request, out int consumed)
    {
        consumed = 0;
        long total = request.TotalBytes;
        if (input.Length < total)
        {
            return ParseStatus.IncompleteValue;
        }

        consumed = (int)total;
        if (BinaryPrimitives.ReadUInt16LittleEndian(input[request.Value.End..]) == ('\r' | ('\n' << 8)))
        {
            return ParseStatus.Complete;
        }

        request.Error = MemcachedError.BadDataChunk;
        return ParseStatus.Malformed;
    }
}
