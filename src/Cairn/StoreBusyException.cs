namespace Cairn;

/// <summary>
/// A kept entry could not be written or removed, because another process held the lock longer than <see cref="StoreOptions.LockTimeout"/>. Nothing was
/// changed.
/// </summary>
public sealed class StoreBusyException : StoreException
{
    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">Which process holds which lock, and what to do.</param>
    public StoreBusyException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and its cause.</summary>
    /// <param name="message">Which process holds which lock, and what to do.</param>
    /// <param name="innerException">The cause, or <see langword="null"/>.</param>
    public StoreBusyException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
