namespace Cairn;

/// <summary>
/// The store's file could not be opened, created, grown or kept. The message says what happened, with which value, and what to do.
/// </summary>
/// <remarks>
/// Expected outcomes, such as a miss or a declined write, are return values. This exception reports a failure after which the caller must check the file or
/// its environment.
/// </remarks>
public class StoreException : IOException
{
    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">What happened, with which value, and what to do.</param>
    public StoreException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and its cause.</summary>
    /// <param name="message">What happened, with which value, and what to do.</param>
    /// <param name="innerException">The cause, or <see langword="null"/>.</param>
    public StoreException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
