namespace Cairn.Redis;

/// <summary>The condition for setting a key.</summary>
public enum RedisSetCondition
{
    /// <summary>Sets the key unconditionally.</summary>
    Always = 0,

    /// <summary>Sets the key only if it does not exist (<c>NX</c>).</summary>
    IfMissing,

    /// <summary>Sets the key only if it exists (<c>XX</c>).</summary>
    IfExists,
}
