namespace Cairn.Protocol;

/// <summary>The limits of a client for replies. A reply beyond a limit is an error, after which the connection is closed.</summary>
internal sealed record RespReplyLimits
{
    /// <summary>Gets the default limits.</summary>
    public static RespReplyLimits Default { get; } = new();

    /// <summary>The maximum nesting depth of arrays and other types with elements. Default 32, more than the reply of any command has.</summary>
    public int MaxDepth { get; init; } = 32;

    /// <summary>The maximum length of a string in bytes. Default 512 MiB, the longest string that Redis stores.</summary>
    public int MaxBulkBytes { get; init; } = 512 << 20;

    /// <summary>The maximum length of a simple string, error or number, in bytes. Default 64 KiB.</summary>
    public int MaxLineBytes { get; init; } = 64 << 10;

    /// <summary>The maximum length of a reply in bytes, including all its elements. Default 1 GiB.</summary>
    public int MaxReplyBytes { get; init; } = 1 << 30;
}
