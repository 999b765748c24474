using System.Net;
using Cairn.Dashboard.Pages.Access;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Http;

namespace Cairn.Dashboard.AspNetCore.Showing;

/// <summary>
/// Grants access to an application's dashboard to the users that the application's conventions allow, or without conventions to this
/// machine.
/// </summary>
internal sealed class ApplicationVisitors : IDashboardAccess
{
    // The dashboard needs no name of a user that the application has authorized, because it is read-only.
    public DashboardUser? Anonymous { get; } = new();

    public DashboardUser? Authenticate(string name, string password) => null;

    public bool IsKnownHost(HttpContext context) => IsDecided(context) || IDashboardAccess.IsAddress(context.Request.Host.Host);

    public string? Refuse(HttpContext context)
    {
        if (IsDecided(context))
        {
            return null;
        }

        // A proxy on this machine forwards requests from other machines.
        IHeaderDictionary headers = context.Request.Headers;
        bool isHandedOn = headers.ContainsKey("Forwarded") || headers.ContainsKey("X-Forwarded-For") || headers.ContainsKey("X-Real-IP");
        bool isHere = context.Connection.RemoteIpAddress is not { } remote || IPAddress.IsLoopback(remote);
        return isHere && !isHandedOn
            ? null
            : "only this machine may open this page; to allow others, call app.MapCairnDashboard().RequireAuthorization(...)";
    }

    // Returns whether the endpoint has authorization metadata. The application's own middleware then checks the user.
    private static bool IsDecided(HttpContext context) =>
        context.GetEndpoint()?.Metadata is { } metadata
        && (metadata.GetMetadata<IAuthorizeData>() ?? (object?)metadata.GetMetadata<AuthorizationPolicy>() ?? metadata.GetMetadata<IAllowAnonymous>()) is not null;
}
