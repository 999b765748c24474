namespace Cairn.Redis.Nodes;

/// <summary>The properties that a server reports when a connection is established.</summary>
/// <param name="IsResp3">Whether the connection uses RESP3.</param>
/// <param name="IsCluster">Whether the server is a node of a Cluster.</param>
/// <param name="IsReplica">Whether the server is a replica.</param>
/// <param name="Version">The server's version; empty if unknown.</param>
internal sealed record NodeStatus(bool IsResp3, bool IsCluster, bool IsReplica, string Version);
