namespace Cairn.Protocol.Resp;

// Splits an inline request into words by the rules of Redis' sdssplitargs. White space separates words. "Double quotes" support \xHH, \n,
// \r, \t, \b, \a and \ANY; 'single quotes' support only \'. Quotes may begin within a word. The closing quote ends the word, and white
// space or the end of the line must follow.
//
// A word without quotes stays in the input. A word with quotes is copied to _unquoted without them. Its range has the complement of its
// offset there, which is negative.
internal struct InlineArguments
{
    private const int KeptCapacity = 4096;

    private byte[]? _unquoted;
    private int _unquotedBytes;

    public readonly int HeldBytes => _unquoted?.Length ?? 0;

    public readonly ReadOnlySpan<byte> GetUnquoted(ByteRange range) => _unquoted.AsSpan(~range.Offset, range.Length);

    public void Clear()
    {
        _unquotedBytes = 0;
        if (_unquoted is { Length: > KeptCapacity })
        {
            _unquoted = null;
        }
    }

    public bool TryRead(ReadOnlySpan<byte> line, ref ByteRange[] ranges, ref int count)
    {
        int before = count;
        int position = 0;
        while (true)
        {
            while (position < line.Length && IsSpace(line[position]))
            {
                position++;
            }

            if (position == line.Length)
            {
                return true;
            }

            if (!TryReadWord(line, ref position, out var range))
            {
                count = before;
                return false;
            }

            if (count == ranges.Length)
            {
                Array.Resize(ref ranges, ranges.Length * 2);
            }

            ranges[count++] = range;
        }
    }

    private bool TryReadWord(ReadOnlySpan<byte> line, ref int position, out ByteRange range)
    {
        int start = position;
        while (position < line.Length && !IsWordEnd(line[position]))
        {
            if (line[position] is (byte)'"' or (byte)'\'')
            {
                return TryReadQuoted(line, start, ref position, out range);
            }

            position++;
        }

        range = new ByteRange(start, position - start);
        return true;
    }

    // Reads a word from its first quote on. The bytes from start to that quote are plain.
    private bool TryReadQuoted(ReadOnlySpan<byte> line, int start, ref int position, out ByteRange range)
    {
        // Removing quotes never makes a word longer.
        int room = _unquotedBytes + line.Length - start;
        if (_unquoted is null || _unquoted.Length < room)
        {
            Array.Resize(ref _unquoted, Math.Max(room, 256));
        }

        int first = _unquotedBytes;
        var target = _unquoted.AsSpan(first);
        int length = position - start;
        line.Slice(start, length).CopyTo(target);

        range = default;
        byte quote = line[position++];
        if (!TryReadQuotes(line, quote, ref position, target, ref length))
        {
            return false;
        }

        range = new ByteRange(~first, length);
        _unquotedBytes += length;
        return true;
    }

    private static bool TryReadQuotes(
        ReadOnlySpan<byte> line, byte quote, ref int position, Span<byte> target, ref int length)
    {
        while (position < line.Length)
        {
            byte value = line[position++];
            if (value == quote)
            {
                return position == line.Length || IsSpace(line[position]);
            }

            if (value == '\\' && position < line.Length)
            {
                value = quote == '"' ? ReadEscape(line, ref position) : ReadEscapedQuote(line, ref position);
            }

            target[length++] = value;
        }

        return false;
    }

    private static byte ReadEscape(ReadOnlySpan<byte> line, ref int position)
    {
        byte value = line[position];
        if (value == 'x' && position + 2 < line.Length)
        {
            int code = (HexDigit(line[position + 1]) << 4) | HexDigit(line[position + 2]);
            if (code >= 0)
            {
                position += 3;
                return (byte)code;
            }
        }

        position++;
        return value switch
        {
            (byte)'n' => (byte)'\n',
            (byte)'r' => (byte)'\r',
            (byte)'t' => (byte)'\t',
            (byte)'b' => (byte)'\b',
            (byte)'a' => (byte)'\a',
            _ => value,
        };
    }

    // Within single quotes, a backslash is literal except before a single quote.
    private static byte ReadEscapedQuote(ReadOnlySpan<byte> line, ref int position)
    {
        if (line[position] != '\'')
        {
            return (byte)'\\';
        }

        position++;
        return (byte)'\'';
    }

    // Returns a negative number if the byte is not a hexadecimal digit.
    private static int HexDigit(byte value) => value switch
    {
        >= (byte)'0' and <= (byte)'9' => value - '0',
        >= (byte)'a' and <= (byte)'f' => value - 'a' + 10,
        >= (byte)'A' and <= (byte)'F' => value - 'A' + 10,
        _ => -1,
    };

    // A smaller set than the white space before a word: a word may contain vertical tabs and form feeds.
    private static bool IsWordEnd(byte value) => value is (byte)' ' or (byte)'\n' or (byte)'\r' or (byte)'\t';

    private static bool IsSpace(byte value) => value is (byte)' ' or (>= (byte)'\t' and <= (byte)'\r');
}
