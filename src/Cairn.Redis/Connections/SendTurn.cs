namespace Cairn.Redis.Connections;

/// <summary>Whether a request needs room in a connection's queue.</summary>
internal enum SendTurn
{
    /// <summary>It needs room, and comes behind those that wait for some.</summary>
    New,

    /// <summary>Its caller has waited for room, and was given a place.</summary>
    Waited,

    /// <summary>The client's own: it needs no room.</summary>
    Own,
}
