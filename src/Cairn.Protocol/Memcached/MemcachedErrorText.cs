namespace Cairn.Protocol.Memcached;

// The error lines, including their line ends.
internal static class MemcachedErrorText
{
    public static ReadOnlySpan<byte> Of(MemcachedError error) => error switch
    {
        MemcachedError.UnknownCommand => "ERROR\r\n"u8,
        MemcachedError.BadCommandLineFormat => "CLIENT_ERROR bad command line format\r\n"u8,
        MemcachedError.BadDataChunk => "CLIENT_ERROR bad data chunk\r\n"u8,
        MemcachedError.LineTooLong => "CLIENT_ERROR line too long\r\n"u8,
        MemcachedError.InvalidExpiration => "CLIENT_ERROR invalid exptime argument\r\n"u8,
        MemcachedError.InvalidDelta => "CLIENT_ERROR invalid numeric delta argument\r\n"u8,
        MemcachedError.BadDeleteFormat => "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n"u8,
        MemcachedError.TooManyGetFlags => "CLIENT_ERROR options flags are too long\r\n"u8,
        MemcachedError.TooManyFlags => "CLIENT_ERROR options flags too long\r\n"u8,
        MemcachedError.DuplicateFlag => "CLIENT_ERROR duplicate flag\r\n"u8,
        MemcachedError.InvalidFlag => "CLIENT_ERROR invalid flag\r\n"u8,
        MemcachedError.InvalidOrDuplicateFlag => "CLIENT_ERROR invalid or duplicate flag\r\n"u8,
        MemcachedError.BadToken => "CLIENT_ERROR bad token in command line format\r\n"u8,
        MemcachedError.BadBase64Key => "CLIENT_ERROR error decoding key\r\n"u8,
        MemcachedError.BadModeLength => "CLIENT_ERROR incorrect length for M token\r\n"u8,
        MemcachedError.InvalidSetMode => "CLIENT_ERROR invalid mode for ms M token\r\n"u8,
        MemcachedError.InvalidArithmeticMode => "CLIENT_ERROR invalid mode for ma M token\r\n"u8,
        MemcachedError.InvalidInitialValue => "CLIENT_ERROR invalid numeric initial value\r\n"u8,
        MemcachedError.InvalidDeltaValue => "CLIENT_ERROR invalid numeric delta value\r\n"u8,
        MemcachedError.OpaqueTooLong => "CLIENT_ERROR opaque token too long\r\n"u8,
        MemcachedError.NotANumber => "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"u8,
        MemcachedError.Unauthenticated => "CLIENT_ERROR unauthenticated\r\n"u8,
        MemcachedError.AuthenticationFailure => "CLIENT_ERROR authentication failure\r\n"u8,
        MemcachedError.BadAuthenticationFormat => "CLIENT_ERROR bad authentication token format\r\n"u8,
        MemcachedError.ObjectTooLarge => "SERVER_ERROR object too large for cache\r\n"u8,
        MemcachedError.OutOfMemoryStoring => "SERVER_ERROR out of memory storing object\r\n"u8,
        MemcachedError.OutOfMemory => "SERVER_ERROR out of memory\r\n"u8,
        _ => [],
    };
}
