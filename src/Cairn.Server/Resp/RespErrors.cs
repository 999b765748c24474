namespace Cairn.Server.Resp;

/// <summary>The texts of errors, as Redis 7 has them.</summary>
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

    /// <summary>Not Redis': another process holds a lock of the store and does not run.</summary>
    public static ReadOnlySpan<byte> Busy => "BUSY A part of the store is held by a process that does not run. Try again."u8;

    /// <summary>Not Redis': PasswordChecks has no place.</summary>
    public static ReadOnlySpan<byte> TooManyPasswords => "ERR too many passwords are being checked. Try again."u8;

    /// <summary>Not Redis': a transaction happens at one moment, and a slow hash takes longer.</summary>
    public static ReadOnlySpan<byte> PasswordInTransaction => "ERR this password is not checked in a transaction. Send AUTH before MULTI."u8;

    public static ReadOnlySpan<byte> WrongPassword => "WRONGPASS invalid username-password pair or user is disabled."u8;

    public static ReadOnlySpan<byte> NoPermissionForKey => "NOPERM this user has no permissions to access one of the keys used as arguments"u8;

    /// <summary>A subcommand has more arguments than it knows.</summary>
    public static byte[] WrongCount(scoped in RespArguments arguments) => Text.Bytes(
        $"ERR unknown subcommand or wrong number of arguments for '{Text.Latin(arguments[1])}'. Try {Text.Latin(arguments[0]).ToUpperInvariant()} HELP.");

    /// <summary>Why a write was not done.</summary>
    public static ReadOnlySpan<byte> Of(WriteStatus status) => status switch
    {
        WriteStatus.TooLarge => TooLong,
        WriteStatus.Busy => Busy,
        _ => NoRoom,
    };

    /// <summary>A reply that has to be made at once and would be longer than may wait for a client.</summary>
    public static byte[] ReplyTooLong(long limit, string advice) =>
        Text.Bytes($"ERR the reply would take more than {limit} bytes (--max-waiting). {advice}");
}
