namespace Cairn;

/// <summary>
/// A kept entry could not be written or removed, because the lock it needs was held past <see cref="StoreOptions.LockTimeout"/>. Nothing was changed.
/// </summary>
public sealed class StoreBusyException : StoreException
{
    /// <summary>Makes an exception with a message.</summary>
    /// <param name="message">Who holds what, and what to do.</param>
    public StoreBusyException(string message)
        : base(message)
    {
    }

    /// <summary>Makes an exception with a message and what caused it.</summary>
    /// <param name="message">Who holds what, and what to do.</param>
    /// <param name="innerException">The cause, or <see langword="null"/>.</param>
    public StoreBusyException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
