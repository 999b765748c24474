namespace Cairn.Clients.Nodes;

/// <summary>The properties that a server reports when a connection is established. Each client adds its own.</summary>
/// <param name="Protocol">The protocol that the connection speaks, for the log.</param>
/// <param name="IsSecondChoice">Whether another of the node's end points is used instead if it can be, such as a master instead of a replica.</param>
internal abstract record NodeStatus(string Protocol, bool IsSecondChoice);
