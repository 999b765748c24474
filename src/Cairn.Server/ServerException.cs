namespace Cairn.Server;

/// <summary>The exception for a server that cannot do what its options ask for: an address is in use, a certificate is not usable, or a
/// kernel interface is missing. The message says what failed, why, and how to correct it.</summary>
public sealed class ServerException : Exception
{
    /// <summary>Creates an exception with a message that says what failed and how to correct it.</summary>
    public ServerException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message that says what failed and how to correct it, and with the cause.</summary>
    public ServerException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
