using System.Net;
using Microsoft.AspNetCore.Http;

namespace Cairn.Dashboard.Pages.Access;

/// <summary>Who may look at a dashboard.</summary>
internal interface IDashboardAccess
{
    /// <summary>Whom somebody is who has not logged in; null if they must.</summary>
    DashboardUser? Anonymous { get; }

    /// <summary>The user of that name if the password is right, else null. Takes as long for a wrong name as for a wrong password.</summary>
    DashboardUser? Authenticate(string name, string password);

    /// <summary>Whether the host that a browser asked for is one of this server's: addresses and localhost always are.</summary>
    bool IsKnownHost(HttpContext context);

    /// <summary>Whether this request may see anything at all; the reason in words if not.</summary>
    string? Refuse(HttpContext context) => null;

    /// <summary>Whether a host is an address or localhost, which no foreign name can be made to lead to.</summary>
    public static bool IsAddress(string host) =>
        host.Equals("localhost", StringComparison.OrdinalIgnoreCase)
        || host.EndsWith(".localhost", StringComparison.OrdinalIgnoreCase)
        || IPAddress.TryParse(host.Trim('[', ']'), out _);
}
