namespace Cairn.Clients.Connections;

/// <summary>The claim of a request to room in a connection's queue.</summary>
internal enum SendTurn
{
    /// <summary>The request needs room. Requests that already wait for room come first.</summary>
    New,

    /// <summary>The caller has waited for room and has a reserved place.</summary>
    Waited,

    /// <summary>A request of the client itself. It needs no room.</summary>
    Own,
}
