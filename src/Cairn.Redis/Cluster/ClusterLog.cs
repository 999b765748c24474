using Microsoft.Extensions.Logging;

namespace Cairn.Redis.Cluster;

/// <summary>The log messages about a Cluster. docs/reference/redis.md lists them.</summary>
internal static partial class ClusterLog
{
    [LoggerMessage(603, LogLevel.Information, "The Cluster has {Masters} masters as of {Server}.")]
    public static partial void TopologyRead(ILogger logger, int masters, string server);
}
