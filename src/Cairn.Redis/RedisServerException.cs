namespace Cairn.Redis;

/// <summary>The server replied with an error. Its text is the message.</summary>
public sealed class RedisServerException : RedisException
{
    /// <summary>Creates one without a message.</summary>
    public RedisServerException()
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">The server's text, such as <c>WRONGTYPE Operation against a key holding the wrong kind of value</c>.</param>
    public RedisServerException(string message)
        : base(message)
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">The server's text.</param>
    /// <param name="innerException">Why.</param>
    public RedisServerException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }

    /// <summary>The first word of the text, such as <c>ERR</c>, <c>WRONGTYPE</c> or <c>OOM</c>.</summary>
    public string Code => Message.Split(' ', 2)[0];
}
