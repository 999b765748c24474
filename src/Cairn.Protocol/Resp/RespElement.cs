namespace Cairn.Protocol.Resp;

// One element without its children: the type byte, the line and, for strings with a length, their bytes. TryRead checks lengths, numbers
// and line ends for the scanner, so the reader can rely on them.
[StructLayout(LayoutKind.Auto)]
internal struct RespElement
{
    public RespType Type;

    // The text of a string, error or number.
    public ByteRange Value;

    // The number of elements of an array, set or push, or of pairs of a map or attributes.
    public int Count;

    public long Integer;

    public readonly long ChildCount => Type switch
    {
        RespType.Array or RespType.Set or RespType.Push => Count,
        RespType.Map or RespType.Attribute => 2L * Count,
        _ => 0,
    };

    // Reads the element at the position and moves after it; its children follow there. If the element is incomplete, the position does not
    // change, and neededBytes is the minimum length of the input.
    public static ParseStatus TryRead(
        ReadOnlySpan<byte> input, ref int position, RespReplyLimits limits, out RespElement element, out long neededBytes)
    {
        element = default;
        neededBytes = input.Length + 1L;
        if (position >= input.Length)
        {
            return ParseStatus.Incomplete;
        }

        var type = (RespType)input[position];
        if (!IsType(type))
        {
            return ParseStatus.Fatal;
        }

        var rest = input[(position + 1)..];
        int length = rest.IndexOfAny((byte)'\r', (byte)'\n');
        if (length > limits.MaxLineBytes || (length < 0 && rest.Length > limits.MaxLineBytes))
        {
            return ParseStatus.Fatal;
        }

        if (length < 0)
        {
            return ParseStatus.Incomplete;
        }

        if (rest[length] != '\r')
        {
            return ParseStatus.Fatal;
        }

        if (length + 1 >= rest.Length)
        {
            return ParseStatus.Incomplete;
        }

        if (rest[length + 1] != '\n')
        {
            return ParseStatus.Fatal;
        }

        var line = rest[..length];
        int next = position + 1 + length + 2;
        element.Type = type;
        element.Value = new ByteRange(position + 1, length);
        switch (type)
        {
            case RespType.SimpleString or RespType.Error:
                break;

            case RespType.Integer:
                if (!DecimalText.TryParseInt64(line is [(byte)'+', ..] ? line[1..] : line, out element.Integer))
                {
                    return ParseStatus.Fatal;
                }

                break;

            case RespType.Null:
                if (length != 0)
                {
                    return ParseStatus.Fatal;
                }

                break;

            case RespType.Boolean:
                if (length != 1 || line[0] is not ((byte)'t' or (byte)'f'))
                {
                    return ParseStatus.Fatal;
                }

                element.Integer = line[0] == 't' ? 1 : 0;
                break;

            case RespType.Double:
                if (!DoubleText.TryParse(line, out _))
                {
                    return ParseStatus.Fatal;
                }

                break;

            case RespType.BigNumber:
                var digits = line is [(byte)'+' or (byte)'-', ..] ? line[1..] : line;
                if (digits.IsEmpty || digits.ContainsAnyExceptInRange((byte)'0', (byte)'9'))
                {
                    return ParseStatus.Fatal;
                }

                break;

            case RespType.BulkString or RespType.BulkError or RespType.VerbatimString:
                return TryReadBulk(input, ref position, next, limits, ref element, ref neededBytes);

            default:
                return TryReadCount(line, ref position, next, ref element);
        }

        position = next;
        return ParseStatus.Complete;
    }

    private static bool IsType(RespType type) => type is
        RespType.SimpleString or RespType.Error or RespType.Integer or RespType.BulkString or RespType.Array or RespType.Null or
        RespType.Boolean or RespType.Double or RespType.BigNumber or RespType.BulkError or RespType.VerbatimString or
        RespType.Map or RespType.Set or RespType.Push or RespType.Attribute;

    private static ParseStatus TryReadBulk(
        ReadOnlySpan<byte> input, ref int position, int start, RespReplyLimits limits, ref RespElement element, ref long neededBytes)
    {
        if (!DecimalText.TryParseInt64(element.Value.Of(input), out long length) || length < -1 || length > limits.MaxBulkBytes)
        {
            return ParseStatus.Fatal;
        }

        if (length < 0)
        {
            var type = element.Type;
            element = new RespElement { Type = RespType.Null };
            position = start;
            return type == RespType.BulkString ? ParseStatus.Complete : ParseStatus.Fatal;
        }

        if (element.Type == RespType.VerbatimString && length < 4)
        {
            return ParseStatus.Fatal;
        }

        long end = start + length;
        if (end + 2 > input.Length)
        {
            neededBytes = end + 2;
            return ParseStatus.Incomplete;
        }

        if (input[(int)end] != '\r' || input[(int)end + 1] != '\n' ||
            (element.Type == RespType.VerbatimString && input[start + 3] != ':'))
        {
            return ParseStatus.Fatal;
        }

        element.Value = new ByteRange(start, (int)length);
        position = (int)end + 2;
        return ParseStatus.Complete;
    }

    private static ParseStatus TryReadCount(ReadOnlySpan<byte> line, ref int position, int next, ref RespElement element)
    {
        if (!DecimalText.TryParseInt64(line, out long count) || count is < -1 or > int.MaxValue ||
            (count < 0 && element.Type != RespType.Array))
        {
            return ParseStatus.Fatal;
        }

        element = count < 0
            ? new RespElement { Type = RespType.Null }
            : new RespElement { Type = element.Type, Count = (int)count };
        position = next;
        return ParseStatus.Complete;
    }
}
