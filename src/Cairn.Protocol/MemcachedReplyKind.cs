namespace Cairn.Protocol;

/// <summary>The kinds of replies in memcached's text protocol.</summary>
internal enum MemcachedReplyKind : byte
{
    /// <summary>No reply was read.</summary>
    None = 0,

    /// <summary><c>VALUE KEY FLAGS BYTES [VERSION]</c> and a data block.</summary>
    Value,

    /// <summary><c>END</c>, after values or statistics.</summary>
    End,

    /// <summary><c>STORED</c></summary>
    Stored,

    /// <summary><c>NOT_STORED</c></summary>
    NotStored,

    /// <summary><c>EXISTS</c></summary>
    Exists,

    /// <summary><c>NOT_FOUND</c></summary>
    NotFound,

    /// <summary><c>DELETED</c></summary>
    Deleted,

    /// <summary><c>TOUCHED</c></summary>
    Touched,

    /// <summary><c>OK</c></summary>
    Ok,

    /// <summary><c>RESET</c></summary>
    Reset,

    /// <summary>The new number after <c>incr</c> or <c>decr</c>.</summary>
    Number,

    /// <summary><c>VERSION TEXT</c></summary>
    Version,

    /// <summary><c>STAT NAME VALUE</c></summary>
    Stat,

    /// <summary>The reply of a meta command: a code, flags, and a data block with <c>VA</c>.</summary>
    Meta,

    /// <summary><c>ME KEY NAME=VALUE*</c></summary>
    MetaDebug,

    /// <summary><c>ERROR</c></summary>
    Error,

    /// <summary><c>CLIENT_ERROR TEXT</c></summary>
    ClientError,

    /// <summary><c>SERVER_ERROR TEXT</c></summary>
    ServerError,

    /// <summary>Any other line, such as those of <c>lru_crawler metadump</c>.</summary>
    Text,
}
