namespace Cairn.Redis;

/// <summary>The exception for a failed call to a Redis server.</summary>
public class RedisException : Exception
{
    /// <summary>Creates an exception without a message.</summary>
    public RedisException()
    {
    }

    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">The description of the failure.</param>
    public RedisException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and a cause.</summary>
    /// <param name="message">The description of the failure.</param>
    /// <param name="innerException">The cause.</param>
    public RedisException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
