namespace Cairn.Server.Resp;

/// <summary>The texts of errors, as in Redis 7.</summary>
internal static class RespErrors
{
    public static ReadOnlySpan<byte> Syntax => "ERR syntax error"u8;

    public static ReadOnlySpan<byte> WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value"u8;

    public static ReadOnlySpan<byte> NotAnInteger => "ERR value is not an integer or out of range"u8;

    public static ReadOnlySpan<byte> NotAFloat => "ERR value is not a valid float"u8;

    public static ReadOnlySpan<byte> NotANumber => "ERR increment would produce NaN or Infinity"u8;

    public static ReadOnlySpan<byte> Overflow => "ERR increment or decrement would overflow"u8;

    public static ReadOnlySpan<byte> TooLong => "ERR string exceeds maximum allowed size (proto-max-bulk-len)"u8;

    public static ReadOnlySpan<byte> NoSuchKey => "ERR no such key"u8;

    public static ReadOnlySpan<byte> NoRoom => "OOM command not allowed when used memory > 'maxmemory'."u8;

    /// <summary>Not in Redis: another process, which does not run, holds a lock of the store.</summary>
    public static ReadOnlySpan<byte> Busy => "BUSY A part of the store is held by a process that does not run. Try again."u8;

    /// <summary>Not in Redis: PasswordChecks is full.</summary>
    public static ReadOnlySpan<byte> TooManyPasswords => "ERR too many passwords are being checked. Try again."u8;

    /// <summary>Not in Redis: a transaction is atomic, and a slow hash takes too long for it.</summary>
    public static ReadOnlySpan<byte> PasswordInTransaction => "ERR this password is not checked in a transaction. Send AUTH before MULTI."u8;

    /// <summary>Not in Redis: see <see cref="Text.TryReadPattern"/>.</summary>
    public static byte[] PatternTooLong { get; } = Text.Bytes($"ERR a pattern has at most {Text.LongestAfterStar} bytes from its first * on");

    /// <summary>Not in Redis: channels are compared with patterns, so they have the limit of keys.</summary>
    public static byte[] ChannelTooLong { get; } = Text.Bytes($"ERR a channel has at most {KeySpace.MaxKeyBytes} bytes");

    public static ReadOnlySpan<byte> WrongPassword => "WRONGPASS invalid username-password pair or user is disabled."u8;

    public static ReadOnlySpan<byte> NoPermissionForKey => "NOPERM this user has no permissions to access one of the keys used as arguments"u8;

    /// <summary>Returns the error for a wrong number of arguments of a subcommand.</summary>
    public static byte[] WrongCount(scoped in RespArguments arguments) => Text.Bytes(
        $"ERR unknown subcommand or wrong number of arguments for '{Text.Latin(arguments[1])}'. Try {Text.Latin(arguments[0]).ToUpperInvariant()} HELP.");

    /// <summary>Returns the error for the number of a database; empty if it is 0, the only database.</summary>
    public static ReadOnlySpan<byte> OfDatabase(ReadOnlySpan<byte> text) =>
        !Text.TryParse(text, out long number) ? NotAnInteger
        : number is < int.MinValue or > int.MaxValue ? "ERR value is out of range, value must between -2147483648 and 2147483647"u8
        : number != 0 ? "ERR DB index is out of range"u8
        : default;

    /// <summary>Returns the error for a write that failed.</summary>
    public static ReadOnlySpan<byte> Of(WriteStatus status) => status switch
    {
        WriteStatus.TooLarge => TooLong,
        WriteStatus.Busy => Busy,
        _ => NoRoom,
    };

    /// <summary>Returns the error for a reply that must be created as a whole and exceeds the limit of waiting output.</summary>
    public static byte[] ReplyTooLong(long limit, string advice) =>
        Text.Bytes($"ERR the reply would take more than {limit} bytes (--max-waiting). {advice}");
}
