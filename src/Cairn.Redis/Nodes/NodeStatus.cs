namespace Cairn.Redis.Nodes;

/// <summary>What a server told of itself when a connection was made.</summary>
/// <param name="IsResp3">Whether RESP3 is spoken.</param>
/// <param name="IsCluster">Whether it is a node of a Cluster.</param>
/// <param name="IsReplica">Whether it is a replica.</param>
/// <param name="Version">Its version; empty if it did not tell.</param>
internal sealed record NodeStatus(bool IsResp3, bool IsCluster, bool IsReplica, string Version);
