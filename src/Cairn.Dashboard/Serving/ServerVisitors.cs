using Cairn.Dashboard.Pages.Access;
using Cairn.Server;
using Cairn.Server.Resp.Security;
using Microsoft.AspNetCore.Http;

namespace Cairn.Dashboard.Serving;

/// <summary>Grants access to a server's dashboard to the users of the server.</summary>
internal sealed class ServerVisitors(ServerInsight server) : IDashboardAccess
{
    public DashboardUser? Anonymous => server.Access?.Anonymous is { } user ? UserOf(user) with { Name = null } : null;

    public DashboardUser? Authenticate(string name, string password) =>
        server.Access?.Authenticate(name, password) is { } user ? UserOf(user) : null;

    public bool IsKnownHost(HttpContext context)
    {
        string host = context.Request.Host.Host;
        return IDashboardAccess.IsAddress(host) || server.Access?.Names.Contains(host, StringComparer.OrdinalIgnoreCase) == true;
    }

    private static DashboardUser UserOf(RespUser user) => new()
    {
        Name = Encoding.UTF8.GetString(Encoding.Latin1.GetBytes(user.Name)),
        KeyPrefix = user.KeyPrefix,
        MayChange = !user.IsReadOnly,
        SeesOthers = !user.IsRestricted,
    };
}
