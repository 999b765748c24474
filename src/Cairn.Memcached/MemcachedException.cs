namespace Cairn.Memcached;

/// <summary>The exception for a failed call to a memcached server.</summary>
public sealed class MemcachedException : Exception
{
    /// <summary>Creates an exception without a message.</summary>
    public MemcachedException()
    {
    }

    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">The description of the failure.</param>
    public MemcachedException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and a cause.</summary>
    /// <param name="message">The description of the failure.</param>
    /// <param name="innerException">The cause.</param>
    public MemcachedException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }

    /// <summary>Gets whether there was no connection, so that the server cannot have executed the request.</summary>
    internal bool IsUnreached { get; init; }
}
