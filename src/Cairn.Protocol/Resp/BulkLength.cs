using System.Runtime.CompilerServices;

namespace Cairn.Protocol.Resp;

// The decimal length behind a type byte, and its line end.
internal static class BulkLength
{
    // One to nine digits without a leading zero and their line end: what clients write. Whatever else there is, or is not there
    // yet, is left to ReadAnyLine. Moves the position behind the line.
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

    // Any line, from its type byte on: malformed if it holds no number, fatal if it is too long to hold one. As in Redis the
    // \r ends it, and the byte behind that only has to be there.
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
