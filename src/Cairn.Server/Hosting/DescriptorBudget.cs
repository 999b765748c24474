using System.Globalization;
using Cairn.Server.Connections;
using Cairn.Server.Io;

namespace Cairn.Server.Hosting;

/// <summary>
/// Divides the file descriptors that the process may have. The server's own come first: without them the runtime cannot load what it needs, and ends. What
/// is left is for connections.
/// </summary>
internal static class DescriptorBudget
{
    /// <summary>Listeners, rings, the store's files, and the assemblies of the runtime, of which each takes two. 202 were counted with all features in use.</summary>
    public const int Own = 256;

    /// <summary>Clients of the dashboard and of metrics, which are limited to this many.</summary>
    public const int Http = 256;

    /// <summary>Raises the limit of open files as far as that is needed and allowed, and lowers the limit of connections to what is left.</summary>
    /// <returns>What clients may cost the server.</returns>
    /// <exception cref="ServerException">There is none left for connections.</exception>
    public static ConnectionLimits Fit(ServerPlan plan, ServerLog log)
    {
        ConnectionLimits limits = plan.Options.Limits;
        return OperatingSystem.IsLinux()
            ? Fit(limits, plan.Http.Count > 0, LinuxSockets.RaiseDescriptorLimit(Wanted(limits, plan.Http.Count > 0)), log)
            : limits;
    }

    /// <summary>As the other, of a limit that is known.</summary>
    /// <param name="limits">What clients may cost the server.</param>
    /// <param name="hasHttp">Whether HTTP is served.</param>
    /// <param name="descriptors">How many the process may have.</param>
    /// <param name="log">Told if connections have to be fewer.</param>
    public static ConnectionLimits Fit(ConnectionLimits limits, bool hasHttp, long descriptors, ServerLog log)
    {
        long wanted = Wanted(limits, hasHttp);
        long left = descriptors - (wanted - limits.Connections);
        if (left >= limits.Connections)
        {
            return limits;
        }

        if (left < 1)
        {
            string withoutHttp = hasHttp ? string.Create(CultureInfo.InvariantCulture, $" (without the dashboard, --http off, {Own + 1})") : "";
            throw new ServerException(string.Create(
                CultureInfo.InvariantCulture,
                $"This process may have {descriptors} files open, too few to serve: {wanted - limits.Connections + 1} is the least{withoutHttp}, and {wanted} are needed for {limits.Connections} connections. {Advice(wanted)}"));
        }

        log.Write(
            ServerLogLevel.Warning,
            string.Create(
                CultureInfo.InvariantCulture,
                $"This process may have {descriptors} files open, too few for {limits.Connections} connections: at most {left} are accepted. {Advice(wanted)}"));
        return limits with { Connections = (int)left };
    }

    private static long Wanted(ConnectionLimits limits, bool hasHttp) => limits.Connections + Own + (hasHttp ? Http : 0);

    private static string Advice(long wanted) => string.Create(
        CultureInfo.InvariantCulture,
        $"Raise the limit to {wanted} ('ulimit -n {wanted}' in the shell, LimitNOFILE={wanted} in a unit of systemd, --ulimit nofile={wanted} for a container), or lower --max-connections.");
}
