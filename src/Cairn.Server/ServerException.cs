namespace Cairn.Server;

/// <summary>The server cannot do what it was asked for: an address is taken, a certificate is not usable, a way of input and
/// output is not there. The message says which, why, and what to do.</summary>
public sealed class ServerException : Exception
{
    /// <summary>What happened, and what to do.</summary>
    public ServerException(string message)
        : base(message)
    {
    }

    /// <summary>What happened, what to do, and what it was caused by.</summary>
    public ServerException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
