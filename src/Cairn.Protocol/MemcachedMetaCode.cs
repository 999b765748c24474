namespace Cairn.Protocol;

/// <summary>The code at the start of a meta command's reply.</summary>
internal enum MemcachedMetaCode : byte
{
    /// <summary><c>HD</c>: done or found, without a value.</summary>
    Done = 0,

    /// <summary><c>VA</c>: a value follows.</summary>
    Value,

    /// <summary><c>EN</c>: <c>mg</c> found nothing.</summary>
    Miss,

    /// <summary><c>NS</c>: not stored.</summary>
    NotStored,

    /// <summary><c>EX</c>: another version exists.</summary>
    Exists,

    /// <summary><c>NF</c>: not found.</summary>
    NotFound,

    /// <summary><c>MN</c>: the reply to <c>mn</c>.</summary>
    Noop,
}
