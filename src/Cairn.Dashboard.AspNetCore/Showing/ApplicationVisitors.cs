using System.Net;
using Cairn.Dashboard.Pages.Access;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Http;

namespace Cairn.Dashboard.AspNetCore.Showing;

/// <summary>Who may look at an application's dashboard: whom the application lets, or, if it does not say, who sits at this machine.</summary>
internal sealed class ApplicationVisitors : IDashboardAccess
{
    // Whoever passes the application's authorization is nobody in particular here: there is nothing to change.
    public DashboardUser? Anonymous { get; } = new();

    public DashboardUser? Authenticate(string name, string password) => null;

    public bool IsKnownHost(HttpContext context) => IsDecided(context) || IDashboardAccess.IsAddress(context.Request.Host.Host);

    public string? Refuse(HttpContext context)
    {
        if (IsDecided(context))
        {
            return null;
        }

        // A proxy on this machine hands on what comes from others.
        IHeaderDictionary headers = context.Request.Headers;
        bool isHandedOn = headers.ContainsKey("Forwarded") || headers.ContainsKey("X-Forwarded-For") || headers.ContainsKey("X-Real-IP");
        bool isHere = context.Connection.RemoteIpAddress is not { } remote || IPAddress.IsLoopback(remote);
        return isHere && !isHandedOn
            ? null
            : "only this machine may look; to let others, say app.MapCairnDashboard().RequireAuthorization(...)";
    }

    // The application's own middleware has asked who it is, then.
    private static bool IsDecided(HttpContext context) =>
        context.GetEndpoint()?.Metadata is { } metadata
        && (metadata.GetMetadata<IAuthorizeData>() ?? (object?)metadata.GetMetadata<AuthorizationPolicy>() ?? metadata.GetMetadata<IAllowAnonymous>()) is not null;
}
