namespace Cairn.Redis;

/// <summary>When a key is set.</summary>
public enum RedisSetCondition
{
    /// <summary>In any case.</summary>
    Always = 0,

    /// <summary>Only if it does not exist (<c>NX</c>).</summary>
    IfMissing,

    /// <summary>Only if it exists (<c>XX</c>).</summary>
    IfExists,
}
