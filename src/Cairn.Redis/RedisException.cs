namespace Cairn.Redis;

/// <summary>A call to a Redis server did not succeed.</summary>
public class RedisException : Exception
{
    /// <summary>Creates one without a message.</summary>
    public RedisException()
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">What happened.</param>
    public RedisException(string message)
        : base(message)
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">What happened.</param>
    /// <param name="innerException">Why.</param>
    public RedisException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
