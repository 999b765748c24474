using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Cairn.Protocol.Memcached;

namespace Cairn.Protocol;

// A line is found by its end, once; then it takes one of two ways:
//   - the forms that make up nearly all traffic (get of one key or more, set with single spaces, mg) are read in place,
//     byte by byte, by QuickRequests, which declines whatever it does not expect;
//   - everything else, errors too, is cut into words and judged by WordRequests, as memcached does.
// Both give the same result for what both accept. MemcachedReaderTests holds them to it.

/// <summary>Reads the requests of memcached's text protocol, the meta commands included, in place and without allocating.</summary>
/// <remarks>
/// The protocol is that of memcached 1.6: doc/protocol.txt of its repository, and where that is silent, what 1.6.18 does. All
/// members are safe from any thread.
/// </remarks>
public static class MemcachedReader
{
    /// <summary>Longest key, in bytes; of a base64 key, its text.</summary>
    public const int MaxKeyBytes = 250;

    /// <summary>Longest command line without its <c>\n</c>, in bytes, except for the <c>get</c> family.</summary>
    public const int MaxLineBytes = 2048;

    /// <summary>Longest command line of the <c>get</c> family, in bytes, where the caller sets no other limit.</summary>
    public const int DefaultMaxMultigetBytes = 1 << 20;

    private const int MaxLeadingSpaces = 100;
    private const int LongestGetName = 4;

    /// <summary>Reads the request at the start of <paramref name="input"/>.</summary>
    /// <param name="input">What has arrived and was not consumed yet.</param>
    /// <param name="request">
    /// The request; its ranges point into <paramref name="input"/>. With <see cref="ParseStatus.IncompleteValue"/> all but
    /// the data block; <see cref="MemcachedRequest.TotalBytes"/> says how long the input must be. With
    /// <see cref="ParseStatus.Malformed"/> and <see cref="ParseStatus.Fatal"/>: what to answer.
    /// </param>
    /// <param name="consumed">
    /// Bytes of the request. 0 unless it is complete or malformed; of a malformed request whose data block follows, the line
    /// only (<see cref="MemcachedRequest.SkipBytes"/> has the rest).
    /// </param>
    /// <param name="searchedBytes">
    /// How many bytes an earlier call searched: the length of the input with which it returned
    /// <see cref="ParseStatus.Incomplete"/>. They are not searched again. 0 is always right.
    /// </param>
    /// <param name="maxMultigetBytes">Longest line of the <c>get</c> family, in bytes; not below <see cref="MaxLineBytes"/>.</param>
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

        // A line that holds nothing but its end is an error with and without the \r.
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

    /// <summary>The line to answer an error with, its end included. Empty for those that only close the connection.</summary>
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

    // The answer depends on the line alone, never on how much of it has arrived: the first 2,049 bytes decide whether it may
    // be longer than that.
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

    // A binary client may wait for an answer before it happens to send a line end.
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
