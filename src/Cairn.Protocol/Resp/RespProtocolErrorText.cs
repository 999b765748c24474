namespace Cairn.Protocol.Resp;

// The texts of Redis.
internal static class RespProtocolErrorText
{
    public static int Format(RespProtocolError error, byte offender, Span<byte> destination)
    {
        var text = error switch
        {
            RespProtocolError.InvalidArrayLength => "Protocol error: invalid multibulk length"u8,
            RespProtocolError.UnauthenticatedArrayLength => "Protocol error: unauthenticated multibulk length"u8,
            RespProtocolError.ArrayLengthTooLong => "Protocol error: too big mbulk count string"u8,
            RespProtocolError.ExpectedBulk => "Protocol error: expected '$', got '?'"u8,
            RespProtocolError.InvalidBulkLength => "Protocol error: invalid bulk length"u8,
            RespProtocolError.UnauthenticatedBulkLength => "Protocol error: unauthenticated bulk length"u8,
            RespProtocolError.BulkLengthTooLong => "Protocol error: too big bulk count string"u8,
            RespProtocolError.InlineTooLong => "Protocol error: too big inline request"u8,
            RespProtocolError.UnbalancedQuotes => "Protocol error: unbalanced quotes in request"u8,
            _ => [],
        };
        text.CopyTo(destination);
        if (error == RespProtocolError.ExpectedBulk)
        {
            destination[text.Length - 2] = offender is (byte)'\r' or (byte)'\n' ? (byte)' ' : offender;
        }

        return text.Length;
    }
}
