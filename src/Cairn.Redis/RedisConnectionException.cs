namespace Cairn.Redis;

/// <summary>There is no connection to the server, or it was lost.</summary>
public sealed class RedisConnectionException : RedisException
{
    /// <summary>Creates one without a message.</summary>
    public RedisConnectionException()
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">What happened.</param>
    public RedisConnectionException(string message)
        : base(message)
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">What happened.</param>
    /// <param name="innerException">Why.</param>
    public RedisConnectionException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }

    /// <summary>
    /// True if the server may have executed the command, because the connection was lost between the request and its reply; false if it
    /// cannot have.
    /// </summary>
    public bool MayHaveExecuted { get; init; }
}
