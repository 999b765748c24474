namespace Cairn;

/// <summary>The store does not accept durable writes any more, because the disk failed to write some. Reads still work.</summary>
public sealed class StoreReadOnlyException : StoreException
{
    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">What failed, and what to do.</param>
    public StoreReadOnlyException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and its cause.</summary>
    /// <param name="message">What failed, and what to do.</param>
    /// <param name="innerException">The cause, or <see langword="null"/>.</param>
    public StoreReadOnlyException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
