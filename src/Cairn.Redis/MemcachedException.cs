namespace Cairn.Redis;

/// <summary>A call to a memcached server did not succeed.</summary>
public sealed class MemcachedException : Exception
{
    /// <summary>Creates one without a message.</summary>
    public MemcachedException()
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">What happened.</param>
    public MemcachedException(string message)
        : base(message)
    {
    }

    /// <summary>Creates one.</summary>
    /// <param name="message">What happened.</param>
    /// <param name="innerException">Why.</param>
    public MemcachedException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
