using Cairn.Caching.Levels;

namespace Cairn.Redis;

/// <summary>The exception for an error reply. The message is the text of the reply.</summary>
public sealed class RedisServerException : RedisException, IAdvisedFailure
{
    /// <summary>Creates an exception without a message.</summary>
    public RedisServerException()
    {
    }

    /// <summary>Creates an exception with the text of an error reply.</summary>
    /// <param name="message">The server's text, such as <c>WRONGTYPE Operation against a key holding the wrong kind of value</c>.</param>
    public RedisServerException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with the text of an error reply and a cause.</summary>
    /// <param name="message">The server's text.</param>
    /// <param name="innerException">The cause.</param>
    public RedisServerException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }

    /// <summary>Gets the first word of the text, such as <c>ERR</c>, <c>WRONGTYPE</c> or <c>OOM</c>.</summary>
    public string Code => Message.Split(' ', 2)[0];

    string IAdvisedFailure.Advice => IsOfRights ? " Give the user of Redis the rights that docs/how-to/redis.md lists." : "";

    /// <summary>Gets whether the user may lack a right. A client that does not learn the reason reports the end of the transaction.</summary>
    internal bool IsOfRights => Code is "NOPERM" or "EXECABORT" || string.Equals(Message, "ERR EXEC without MULTI", StringComparison.Ordinal);
}
