using Microsoft.Extensions.Logging;

namespace Cairn.Clients.Nodes;

/// <summary>The log messages about a client's connections. docs/reference/redis.md lists them.</summary>
internal static partial class NodeLog
{
    [LoggerMessage(600, LogLevel.Information, "Connected to {Server} with {Protocol}.")]
    public static partial void Made(ILogger logger, string server, string protocol);

    [LoggerMessage(601, LogLevel.Warning, "The connection to {Server} was lost: {Reason}")]
    public static partial void Lost(ILogger logger, string server, string reason);

    [LoggerMessage(602, LogLevel.Warning, "{Server} cannot be reached and will be tried again: {Reason}")]
    public static partial void Failed(ILogger logger, string server, string reason);
}
