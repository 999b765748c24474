namespace Cairn.Protocol;

/// <summary>What a client accepts as a reply. A reply beyond a limit is an error after which the connection is closed.</summary>
public sealed record RespReplyLimits
{
    /// <summary>The limits where nobody sets others.</summary>
    public static RespReplyLimits Default { get; } = new();

    /// <summary>How deep arrays and other types of elements may be nested. Default 32, well above what any command replies.</summary>
    public int MaxDepth { get; init; } = 32;

    /// <summary>Longest string in bytes. Default 512 MiB, the longest that Redis keeps.</summary>
    public int MaxBulkBytes { get; init; } = 512 << 20;

    /// <summary>Longest simple string, error or number, in bytes. Default 64 KiB.</summary>
    public int MaxLineBytes { get; init; } = 64 << 10;

    /// <summary>Longest reply in bytes, all its elements included. Default 1 GiB.</summary>
    public int MaxReplyBytes { get; init; } = 1 << 30;
}
