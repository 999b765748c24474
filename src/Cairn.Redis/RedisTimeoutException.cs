namespace Cairn.Redis;

/// <summary>The server did not reply within the time-out. It may execute the command all the same.</summary>
public sealed class RedisTimeoutException : RedisException
{
    /// <summary>Creates one without a message.</summary>
    public RedisTimeoutException()
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">What happened.</param>
    public RedisTimeoutException(string message)
        : base(message)
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">What happened.</param>
    /// <param name="innerException">Why.</param>
    public RedisTimeoutException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
