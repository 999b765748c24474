namespace Cairn.Protocol.Resp;

// Reads the decimal length after a type byte, with its line end.
internal static class BulkLength
{
    // Reads the form that clients write: one to nine digits without a leading zero, and the line end. Leaves other forms and incomplete
    // lines to ReadAnyLine. Moves the position after the line.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ParseStatus TryRead(ReadOnlySpan<byte> input, ref int position, out long length)
    {
        int at = position;
        int value = 0;
        while ((uint)at < (uint)input.Length && at - position < 10)
        {
            uint digit = (uint)(input[at] - '0');
            if (digit > 9)
            {
                break;
            }

            value = (value * 10) + (int)digit;
            at++;
        }

        length = value;
        int digits = at - position;
        if ((uint)(digits - 1) >= 9 || (uint)(at + 1) >= (uint)input.Length || input[at] != '\r' ||
            (digits > 1 && input[position] == '0'))
        {
            return ParseStatus.Malformed;
        }

        position = at + 2;
        return ParseStatus.Complete;
    }

    // Reads any line from its type byte on. Malformed if it contains no number, fatal if it is too long to contain one. As in Redis, the \r
    // ends the line, and the byte after it may have any value.
    public static ParseStatus ReadAnyLine(ReadOnlySpan<byte> input, ref int position, int maxBytes, out long length)
    {
        length = 0;
        var rest = input[position..];
        int lineEnd = rest.IndexOf((byte)'\r');
        if (lineEnd > maxBytes || (lineEnd < 0 && rest.Length > maxBytes))
        {
            return ParseStatus.Fatal;
        }

        if (lineEnd < 0 || lineEnd + 1 >= rest.Length)
        {
            return ParseStatus.Incomplete;
        }

        position += lineEnd + 2;
        return lineEnd > 0 && DecimalText.TryParseInt64(rest[1..lineEnd], out length)
            ? ParseStatus.Complete
            : ParseStatus.Malformed;
    }
}
