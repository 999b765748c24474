namespace Cairn;

/// <summary>A store's key is missing or wrong, or a key was given for a store that is not encrypted. Nothing was changed.</summary>
public sealed class StoreEncryptionException : StoreException
{
    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">What is wrong with the key of which store, and what to do.</param>
    public StoreEncryptionException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and its cause.</summary>
    /// <param name="message">What is wrong with the key of which store, and what to do.</param>
    /// <param name="innerException">The cause, or <see langword="null"/>.</param>
    public StoreEncryptionException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
