namespace Cairn.Redis;

/// <summary>The exception for a missing or lost connection to the server.</summary>
public sealed class RedisConnectionException : RedisException
{
    /// <summary>Creates an exception without a message.</summary>
    public RedisConnectionException()
    {
    }

    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">The description of the failure.</param>
    public RedisConnectionException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and a cause.</summary>
    /// <param name="message">The description of the failure.</param>
    /// <param name="innerException">The cause.</param>
    public RedisConnectionException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }

    /// <summary>
    /// Gets whether the server may have executed the command: the connection was lost after the request and before its reply. False if the server
    /// cannot have executed it.
    /// </summary>
    public bool MayHaveExecuted { get; init; }
}
