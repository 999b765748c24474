namespace Cairn;

/// <summary>A store's key is missing, is the wrong one, or was given for a store that is not encrypted. Nothing was changed.</summary>
public sealed class StoreEncryptionException : StoreException
{
    /// <summary>Makes an exception with a message.</summary>
    /// <param name="message">What is wrong with the key, of which store, and what to do.</param>
    public StoreEncryptionException(string message)
        : base(message)
    {
    }

    /// <summary>Makes an exception with a message and what caused it.</summary>
    /// <param name="message">What is wrong with the key, of which store, and what to do.</param>
    /// <param name="innerException">The cause, or <see langword="null"/>.</param>
    public StoreEncryptionException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
