namespace Cairn;

/// <summary>The store takes no durable writes any more, because the disk failed to keep some. Reads go on.</summary>
public sealed class StoreReadOnlyException : StoreException
{
    /// <summary>Makes an exception with a message.</summary>
    /// <param name="message">What failed, and what to do.</param>
    public StoreReadOnlyException(string message)
        : base(message)
    {
    }

    /// <summary>Makes an exception with a message and what caused it.</summary>
    /// <param name="message">What failed, and what to do.</param>
    /// <param name="innerException">The cause, or <see langword="null"/>.</param>
    public StoreReadOnlyException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
