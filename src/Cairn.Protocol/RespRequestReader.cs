using System.Diagnostics;
using System.Runtime.CompilerServices;
using Cairn.Protocol.Resp;

namespace Cairn.Protocol;

// A request is read once, however many packets it comes in:
//
//   input     *3\r\n$3\r\nSET\r\n$5\r\nbooks\r\n$1048576\r\n ...
//                                                            | _position: everything before it was read
//   _ranges   [ arguments of requests read ahead | arguments of the request in progress | room ]
//                                                 _first                                 _count
//
//   I1  While a request is in progress (_expected > 0), each input begins with the bytes of the one before it.
//   I2  Ranges in _ranges lie within the input of the call that completed their request.
//
// Where Redis takes liberties, so does this: the byte after a length's \r and the two bytes after an argument are skipped
// whatever they are, and a length of 0 or below is a request without arguments.

/// <summary>
/// Reads RESP requests, as arrays of bulk strings and inline, in place and without allocating once it has seen its
/// longest request. One reader serves one connection; it remembers how far it came into an incomplete request.
/// </summary>
/// <remarks>Follows processMultibulkBuffer and processInlineBuffer of Redis 7.0. Not safe from several threads at once.</remarks>
public sealed class RespRequestReader
{
    private const int SmallestCapacity = 16;
    private const int KeptCapacity = 4096;

    private readonly RespLimits _limits;
    private ByteRange[] _ranges = new ByteRange[SmallestCapacity];
    private InlineArguments _inline;
    private int _first;
    private int _count;
    private int _expected;
    private int _position;
    private int _bulkBytes = -1;
    private byte _offender;

    /// <summary>Creates one for a new connection.</summary>
    /// <param name="limits">What to accept; <see cref="RespLimits.Default"/> if null.</param>
    /// <exception cref="ArgumentOutOfRangeException">A limit is negative.</exception>
    public RespRequestReader(RespLimits? limits = null)
    {
        _limits = limits ?? RespLimits.Default;
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxArguments);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxBulkBytes);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxInlineBytes);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxRequestBytes);
    }

    /// <summary>Whether the client may send requests of any size, or only what authenticating takes. Default true.</summary>
    public bool IsAuthenticated { get; set; } = true;

    /// <summary>
    /// After <see cref="ParseStatus.Incomplete"/>: how long the input must be before another call can get further. At
    /// least one byte more than it was.
    /// </summary>
    public int NeededBytes { get; private set; }

    /// <summary>After <see cref="ParseStatus.Fatal"/>: what is wrong.</summary>
    public RespProtocolError Error { get; private set; }

    /// <summary>Bytes that it keeps to remember where arguments are: more, the more arguments a request has.</summary>
    public int HeldBytes => (_ranges.Length * Unsafe.SizeOf<ByteRange>()) + _inline.HeldBytes;

    /// <summary>Reads the request at the start of <paramref name="input"/> and forgets those read before.</summary>
    /// <param name="input">
    /// What has arrived and was not consumed yet. After <see cref="ParseStatus.Incomplete"/>, the next input must begin with
    /// the same bytes.
    /// </param>
    /// <param name="request">The request; its arguments are valid until the next call of this method.</param>
    /// <param name="consumed">Bytes of the request; 0 unless it is complete.</param>
    /// <returns>Complete, incomplete, or fatal: Redis closes the connection after any protocol error.</returns>
    public ParseStatus TryRead(ReadOnlySpan<byte> input, out RespRequest request, out int consumed)
    {
        if (_first > 0)
        {
            ForgetRead();
        }

        return TryReadNext(input, out request, out consumed);
    }

    /// <summary>As <see cref="TryRead"/>, but the requests read before stay valid, so that a batch can be read ahead.</summary>
    /// <param name="input">As in <see cref="TryRead"/>. The ranges of each request count from the start of its own input.</param>
    /// <param name="request">The request; its arguments are valid until the next call of <see cref="TryRead"/>.</param>
    /// <param name="consumed">Bytes of the request; 0 unless it is complete.</param>
    /// <returns>Complete, incomplete or fatal.</returns>
    public ParseStatus TryReadNext(ReadOnlySpan<byte> input, out RespRequest request, out int consumed)
    {
        request = default;
        consumed = 0;
        if (Error != RespProtocolError.None)
        {
            return ParseStatus.Fatal;
        }

        if (_expected == 0)
        {
            if (input.IsEmpty)
            {
                NeededBytes = 1;
                return ParseStatus.Incomplete;
            }

            var status = input[0] == '*' ? ReadArrayLength(input) : ReadInline(input);
            if (status != ParseStatus.Complete)
            {
                return status;
            }
        }

        if (_expected > 0)
        {
            var status = ReadArguments(input);
            if (status != ParseStatus.Complete)
            {
                return status;
            }
        }

        request = new RespRequest(_first, _count - _first);
        consumed = _position;
        _first = _count;
        _position = 0;
        return ParseStatus.Complete;
    }

    /// <summary>An argument's bytes.</summary>
    /// <param name="input">The input the request was read from.</param>
    /// <param name="request">The request.</param>
    /// <param name="index">From 0, the command's name.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ReadOnlySpan<byte> GetArgument(ReadOnlySpan<byte> input, scoped in RespRequest request, int index)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)index, (uint)request.ArgumentCount, nameof(index));
        var range = _ranges[request.FirstArgument + index];
        return range.Offset >= 0 ? range.Of(input) : _inline.GetUnquoted(range);
    }

    /// <summary>
    /// Where the arguments lie in the input. One that was quoted in an inline request and so is not in the input has a
    /// negative offset; only <see cref="GetArgument"/> has its bytes.
    /// </summary>
    /// <param name="request">The request.</param>
    public ReadOnlySpan<ByteRange> GetRanges(in RespRequest request) =>
        _ranges.AsSpan(request.FirstArgument, request.ArgumentCount);

    /// <summary>Writes the text of <see cref="Error"/>, without <c>-ERR </c> and line end.</summary>
    /// <param name="destination">At least 64 bytes.</param>
    /// <returns>Bytes written.</returns>
    public int FormatError(Span<byte> destination) => RespProtocolErrorText.Format(Error, _offender, destination);

    /// <summary>Forgets everything, as for a new connection, except <see cref="IsAuthenticated"/>.</summary>
    public void Reset()
    {
        _first = _count = _expected = _position = 0;
        _bulkBytes = -1;
        NeededBytes = 0;
        Error = RespProtocolError.None;
        _inline.Clear();
    }

    /// <summary>Forgets the requests read before, and gives back the room that a long one of them needed.</summary>
    public void Trim()
    {
        if (_first > 0)
        {
            ForgetRead();
        }
    }

    // Arguments of a request in progress move to the front; room that one long request needed is given back.
    private void ForgetRead()
    {
        int inProgress = _count - _first;
        if (_ranges.Length > KeptCapacity && inProgress <= SmallestCapacity)
        {
            var ranges = new ByteRange[SmallestCapacity];
            _ranges.AsSpan(_first, inProgress).CopyTo(ranges);
            _ranges = ranges;
        }
        else if (inProgress > 0)
        {
            _ranges.AsSpan(_first, inProgress).CopyTo(_ranges);
        }

        _first = 0;
        _count = inProgress;
        _inline.Clear();
    }

    private ParseStatus ReadArrayLength(ReadOnlySpan<byte> input)
    {
        Debug.Assert(_position == 0, "A request begins at the start of its input.");
        int position = 1;
        var status = BulkLength.TryRead(input, ref position, out long length);
        if (status != ParseStatus.Complete)
        {
            position = 0;
            status = BulkLength.ReadAnyLine(input, ref position, _limits.MaxInlineBytes, out length);
            if (status == ParseStatus.Fatal)
            {
                return Fail(RespProtocolError.ArrayLengthTooLong);
            }

            if (status == ParseStatus.Incomplete)
            {
                NeededBytes = input.Length + 1;
                return status;
            }

            if (status == ParseStatus.Malformed)
            {
                return Fail(RespProtocolError.InvalidArrayLength);
            }
        }

        if (length > _limits.MaxArguments)
        {
            return Fail(RespProtocolError.InvalidArrayLength);
        }

        if (!IsAuthenticated && length > _limits.MaxArgumentsUnauthenticated)
        {
            return Fail(RespProtocolError.UnauthenticatedArrayLength);
        }

        _position = position;
        _expected = (int)Math.Max(length, 0);
        return ParseStatus.Complete;
    }

    private ParseStatus ReadArguments(ReadOnlySpan<byte> input)
    {
        int position = _position;
        while (_expected > 0)
        {
            if (_bulkBytes < 0)
            {
                var status = ReadBulkLength(input, ref position);
                if (status != ParseStatus.Complete)
                {
                    return status;
                }
            }

            int end = position + _bulkBytes; // MaxRequestBytes leaves room for the sum.
            if (input.Length - 2 < end)
            {
                NeededBytes = end + 2;
                return ParseStatus.Incomplete;
            }

            if (_count == _ranges.Length)
            {
                Array.Resize(ref _ranges, _ranges.Length * 2);
            }

            _ranges[_count++] = new ByteRange(position, _bulkBytes);
            position = end + 2;
            _position = position;
            _bulkBytes = -1;
            _expected--;
        }

        return ParseStatus.Complete;
    }

    private ParseStatus ReadBulkLength(ReadOnlySpan<byte> input, ref int position)
    {
        int at = position + 1;
        long length = 0;
        if ((uint)position >= (uint)input.Length || input[position] != '$' ||
            BulkLength.TryRead(input, ref at, out length) != ParseStatus.Complete)
        {
            // The line's end is looked for first, so a wrong character is noticed no sooner.
            at = Math.Min(position, input.Length);
            var status = BulkLength.ReadAnyLine(input, ref at, _limits.MaxInlineBytes, out length);
            if (status == ParseStatus.Fatal)
            {
                return Fail(RespProtocolError.BulkLengthTooLong);
            }

            if (status == ParseStatus.Incomplete)
            {
                NeededBytes = input.Length + 1;
                return status;
            }

            if (input[position] != '$')
            {
                _offender = input[position];
                return Fail(RespProtocolError.ExpectedBulk);
            }

            if (status == ParseStatus.Malformed)
            {
                return Fail(RespProtocolError.InvalidBulkLength);
            }
        }

        if (length < 0 || length > _limits.MaxBulkBytes)
        {
            return Fail(RespProtocolError.InvalidBulkLength);
        }

        if (!IsAuthenticated && length > _limits.MaxBulkBytesUnauthenticated)
        {
            return Fail(RespProtocolError.UnauthenticatedBulkLength);
        }

        if (at + length + 2 > _limits.MaxRequestBytes)
        {
            return Fail(RespProtocolError.RequestTooLong);
        }

        position = at;
        _position = at;
        _bulkBytes = (int)length;
        return ParseStatus.Complete;
    }

    private ParseStatus ReadInline(ReadOnlySpan<byte> input)
    {
        // What was searched before is not remembered: the limit keeps even single bytes cheap.
        int lineEnd = input.IndexOf((byte)'\n');
        if (lineEnd > _limits.MaxInlineBytes || (lineEnd < 0 && input.Length > _limits.MaxInlineBytes))
        {
            return Fail(RespProtocolError.InlineTooLong);
        }

        if (lineEnd < 0)
        {
            NeededBytes = input.Length + 1;
            return ParseStatus.Incomplete;
        }

        var line = input[..(lineEnd > 0 && input[lineEnd - 1] == '\r' ? lineEnd - 1 : lineEnd)];
        if (!_inline.TryRead(line, ref _ranges, ref _count))
        {
            return Fail(RespProtocolError.UnbalancedQuotes);
        }

        _position = lineEnd + 1;
        return ParseStatus.Complete;
    }

    private ParseStatus Fail(RespProtocolError error)
    {
        Error = error;
        return ParseStatus.Fatal;
    }
}
