namespace Cairn.Clients.Connections;

/// <summary>Makes the exceptions of a client. Each client has its own public types.</summary>
internal abstract class ClientErrors
{
    /// <summary>Returns the exception for a missing or lost connection.</summary>
    /// <param name="message">The description of the failure.</param>
    /// <param name="cause">The cause; null if unknown.</param>
    /// <param name="mayHaveExecuted">Whether the connection was lost between the request and its reply.</param>
    public abstract Exception NoConnection(string message, Exception? cause, bool mayHaveExecuted = false);

    /// <summary>Returns the exception for a reply that did not arrive within the time-out.</summary>
    public abstract Exception NoReply(string message);
}
