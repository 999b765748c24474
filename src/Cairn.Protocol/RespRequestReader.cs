using Cairn.Protocol.Resp;

namespace Cairn.Protocol;

// The reader reads each byte of a request once, even if the request arrives in many packets:
//
//   input     *3\r\n$3\r\nSET\r\n$5\r\nbooks\r\n$1048576\r\n ...
//                                                            | _position: end of the bytes that are read
//   _ranges   [ arguments of requests read ahead | arguments of the request in progress | unused ]
//                                                 _first                                 _count
//
//   I1  While a request is in progress (_expected > 0), each input begins with the bytes of the previous input.
//   I2  Ranges in _ranges lie within the input of the call that completed their request.
//
// The reader is as lenient as Redis: it skips the byte after a length's \r and the two bytes after an argument without a check, and a
// length of 0 or below is a request without arguments.

/// <summary>
/// Reads RESP requests, as arrays of bulk strings or inline, in place. It stops allocating once it has seen its longest request. Each
/// connection needs its own reader, which remembers its position in an incomplete request.
/// </summary>
/// <remarks>Follows processMultibulkBuffer and processInlineBuffer of Redis 7.0. Not safe from several threads at once.</remarks>
internal sealed class RespRequestReader
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

    /// <summary>Creates a reader for a new connection.</summary>
    /// <param name="limits">The limits; <see cref="RespLimits.Default"/> if null.</param>
    /// <exception cref="ArgumentOutOfRangeException">A limit is negative.</exception>
    public RespRequestReader(RespLimits? limits = null)
    {
        _limits = limits ?? RespLimits.Default;
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxArguments);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxBulkBytes);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxInlineBytes);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxRequestBytes);
    }

    /// <summary>
    /// Gets or sets whether the client is authenticated. Before that, requests have the smaller limits for authentication. Default true.
    /// </summary>
    public bool IsAuthenticated { get; set; } = true;

    /// <summary>
    /// Gets, after <see cref="ParseStatus.Incomplete"/>, the length that the input must have before another call can make progress: at
    /// least one byte more than before.
    /// </summary>
    public int NeededBytes { get; private set; }

    /// <summary>Gets the error after <see cref="ParseStatus.Fatal"/>.</summary>
    public RespProtocolError Error { get; private set; }

    /// <summary>Gets the size in bytes of the buffers that hold the ranges of arguments. It grows with the number of arguments.</summary>
    public int HeldBytes => (_ranges.Length * Unsafe.SizeOf<ByteRange>()) + _inline.HeldBytes;

    /// <summary>Reads the request at the start of <paramref name="input"/> and discards earlier requests.</summary>
    /// <param name="input">
    /// The bytes that have arrived and are not consumed. After <see cref="ParseStatus.Incomplete"/>, the next input must begin with the
    /// same bytes.
    /// </param>
    /// <param name="request">The request. Its arguments are valid until the next call of this method.</param>
    /// <param name="consumed">The length of the request in bytes; 0 unless it is complete.</param>
    /// <returns>Complete, incomplete, or fatal: Redis closes the connection after any protocol error.</returns>
    public ParseStatus TryRead(ReadOnlySpan<byte> input, out RespRequest request, out int consumed)
    {
        if (_first > 0)
        {
            ForgetRead();
        }

        return TryReadNext(input, out request, out consumed);
    }

    /// <summary>Reads a request like <see cref="TryRead"/>, but keeps earlier requests valid, so that a batch can be read ahead.</summary>
    /// <param name="input">The input, as in <see cref="TryRead"/>. The ranges of a request are relative to the start of its own input.</param>
    /// <param name="request">The request. Its arguments are valid until the next call of <see cref="TryRead"/>.</param>
    /// <param name="consumed">The length of the request in bytes; 0 unless it is complete.</param>
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

    /// <summary>Returns the bytes of an argument.</summary>
    /// <param name="input">The input that the request was read from.</param>
    /// <param name="request">The request.</param>
    /// <param name="index">The index of the argument. Index 0 is the command's name.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ReadOnlySpan<byte> GetArgument(ReadOnlySpan<byte> input, scoped in RespRequest request, int index)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)index, (uint)request.ArgumentCount, nameof(index));
        var range = _ranges[request.FirstArgument + index];
        return range.Offset >= 0 ? range.Of(input) : _inline.GetUnquoted(range);
    }

    /// <summary>
    /// Returns the positions of the arguments in the input. A quoted argument of an inline request is not in the input: it has a negative
    /// offset, and only <see cref="GetArgument"/> returns its bytes.
    /// </summary>
    /// <param name="request">The request.</param>
    public ReadOnlySpan<ByteRange> GetRanges(in RespRequest request) =>
        _ranges.AsSpan(request.FirstArgument, request.ArgumentCount);

    /// <summary>Writes the text of <see cref="Error"/>, without <c>-ERR </c> and the line end.</summary>
    /// <param name="destination">The buffer, at least 64 bytes.</param>
    /// <returns>The number of bytes written.</returns>
    public int FormatError(Span<byte> destination) => RespProtocolErrorText.Format(Error, _offender, destination);

    /// <summary>Resets the reader for a new connection, except <see cref="IsAuthenticated"/>.</summary>
    public void Reset()
    {
        _first = _count = _expected = _position = 0;
        _bulkBytes = -1;
        NeededBytes = 0;
        Error = RespProtocolError.None;
        _inline.Clear();
    }

    /// <summary>Discards earlier requests, and releases the memory that a long one needed.</summary>
    public void Trim()
    {
        if (_first > 0)
        {
            ForgetRead();
        }
    }

    // Moves the arguments of a request in progress to the front, and releases the memory that a long request needed.
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

            int end = position + _bulkBytes; // The sum cannot overflow because of MaxRequestBytes.
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
            // The search for the line end comes first, as in Redis, so a wrong character is reported only with a complete line.
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
        // Earlier calls may have searched these bytes. The limit keeps the repetition cheap even if single bytes arrive.
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
