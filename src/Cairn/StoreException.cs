namespace Cairn;

/// <summary>The store's file could not be opened, created, grown or kept: its message says what happened, with which
/// value, and what to do.</summary>
/// <remarks>Expected outcomes (a miss, a declined write) are return values; this is for what the caller cannot go on
/// from without looking at the file or its surroundings.</remarks>
public class StoreException : IOException
{
    /// <summary>Makes an exception with a message.</summary>
    /// <param name="message">What happened, with which value, and what to do.</param>
    public StoreException(string message)
        : base(message)
    {
    }

    /// <summary>Makes an exception with a message and what caused it.</summary>
    /// <param name="message">What happened, with which value, and what to do.</param>
    /// <param name="innerException">The cause, or <see langword="null"/>.</param>
    public StoreException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
