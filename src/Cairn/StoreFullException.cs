namespace Cairn;

/// <summary>A kept entry found no room: the store, the collection's budget or the disk is full. Nothing was changed.</summary>
public sealed class StoreFullException : StoreException
{
    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">What is full, how large it is, and what to do.</param>
    public StoreFullException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and its cause.</summary>
    /// <param name="message">What is full, how large it is, and what to do.</param>
    /// <param name="innerException">The cause, or <see langword="null"/>.</param>
    public StoreFullException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
