namespace Cairn.Protocol;

/// <summary>The limits of a RESP request reader. A request beyond a limit is an error, after which the connection is closed.</summary>
internal sealed record RespLimits
{
    /// <summary>Gets the default limits.</summary>
    public static RespLimits Default { get; } = new();

    /// <summary>The maximum number of arguments of a request, including the command's name. Default 1,048,576.</summary>
    public int MaxArguments { get; init; } = 1 << 20;

    /// <summary>The maximum length of an argument in bytes. Default 512 MiB, Redis' proto-max-bulk-len.</summary>
    public int MaxBulkBytes { get; init; } = 512 << 20;

    /// <summary>The maximum length of an inline request, and of a line that contains a length, in bytes. Default 64 KiB, as in Redis.</summary>
    public int MaxInlineBytes { get; init; } = 64 << 10;

    /// <summary>The maximum length of a request in bytes. Default 1 GiB, Redis' client-query-buffer-limit.</summary>
    public int MaxRequestBytes { get; init; } = 1 << 30;

    /// <summary>The maximum number of arguments of a request before the client is authenticated. Default 10, as in Redis.</summary>
    public int MaxArgumentsUnauthenticated { get; init; } = 10;

    /// <summary>The maximum length of an argument in bytes before the client is authenticated. Default 16 KiB, as in Redis.</summary>
    public int MaxBulkBytesUnauthenticated { get; init; } = 16 << 10;
}
