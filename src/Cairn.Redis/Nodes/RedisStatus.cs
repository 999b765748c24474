using Cairn.Clients.Nodes;

namespace Cairn.Redis.Nodes;

/// <summary>The properties that a Redis server reports when a connection is established.</summary>
/// <param name="IsResp3">Whether the connection uses RESP3.</param>
/// <param name="IsCluster">Whether the server is a node of a Cluster.</param>
/// <param name="IsReplica">Whether the server is a replica. A replica serves reads; it is used if no end point is a master.</param>
/// <param name="Version">The server's version; empty if unknown.</param>
internal sealed record RedisStatus(bool IsResp3, bool IsCluster, bool IsReplica, string Version)
    : NodeStatus(IsResp3 ? "RESP3" : "RESP2", IsSecondChoice: IsReplica && !IsCluster);
