namespace Cairn.Redis;

/// <summary>The exception for a call whose reply did not arrive within the time-out. The server may execute the command anyway.</summary>
public sealed class RedisTimeoutException : RedisException
{
    /// <summary>Creates an exception without a message.</summary>
    public RedisTimeoutException()
    {
    }

    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">The description of the failure.</param>
    public RedisTimeoutException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and a cause.</summary>
    /// <param name="message">The description of the failure.</param>
    /// <param name="innerException">The cause.</param>
    public RedisTimeoutException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
