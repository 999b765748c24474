using Cairn.Server.Logging;
using Cairn.Server.Platform;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Hosting;

/// <summary>
/// Divides the file descriptors of the process. The server's own needs come first, because without them the runtime cannot load what it
/// needs, and the process ends. The rest is for connections.
/// </summary>
internal static class DescriptorBudget
{
    /// <summary>The descriptors for listeners, rings, the store's files, and the assemblies of the runtime, which need two each. With all
    /// features in use, 202 were counted.</summary>
    public const int Own = 256;

    /// <summary>The descriptors for clients of the dashboard and of metrics, which are limited to this number.</summary>
    public const int Http = 256;

    /// <summary>Raises the limit of open files as far as needed and allowed, and lowers the limit of connections to the rest.</summary>
    /// <returns>The limits of connections.</returns>
    /// <exception cref="ServerException">No descriptor is left for connections.</exception>
    public static ConnectionLimits Fit(ServerPlan plan, ILogger log)
    {
        ConnectionLimits limits = plan.Options.Limits;
        return OperatingSystem.IsLinux()
            ? Fit(limits, plan.Http.Count > 0, LinuxSockets.RaiseDescriptorLimit(Wanted(limits, plan.Http.Count > 0)), log)
            : limits;
    }

    /// <summary>Lowers the limit of connections to the descriptors that are left.</summary>
    /// <param name="limits">The limits of connections.</param>
    /// <param name="hasHttp">Whether HTTP is served.</param>
    /// <param name="descriptors">The number of descriptors that the process may have.</param>
    /// <param name="log">The log, which receives a warning if there must be fewer connections.</param>
    public static ConnectionLimits Fit(ConnectionLimits limits, bool hasHttp, long descriptors, ILogger log)
    {
        long wanted = Wanted(limits, hasHttp);
        long left = descriptors - (wanted - limits.MaxConnections);
        if (left >= limits.MaxConnections)
        {
            return limits;
        }

        if (left < 1)
        {
            string withoutHttp = hasHttp ? string.Create(CultureInfo.InvariantCulture, $" (without the dashboard, --http off, {Own + 1})") : "";
            throw new ServerException(string.Create(
                CultureInfo.InvariantCulture,
                $"This process may have {descriptors} files open, too few to serve: {wanted - limits.MaxConnections + 1} is the least{withoutHttp}, and {wanted} are needed for {limits.MaxConnections} connections. {Advice(wanted)}"));
        }

        log.Write(
            LogLevel.Warning,
            string.Create(
                CultureInfo.InvariantCulture,
                $"This process may have {descriptors} files open, too few for {limits.MaxConnections} connections: at most {left} are accepted. {Advice(wanted)}"));
        return limits with { MaxConnections = (int)left };
    }

    private static long Wanted(ConnectionLimits limits, bool hasHttp) => limits.MaxConnections + Own + (hasHttp ? Http : 0);

    private static string Advice(long wanted) => string.Create(
        CultureInfo.InvariantCulture,
        $"Raise the limit to {wanted} ('ulimit -n {wanted}' in the shell, LimitNOFILE={wanted} in a unit of systemd, --ulimit nofile={wanted} for a container), or lower --max-connections.");
}
