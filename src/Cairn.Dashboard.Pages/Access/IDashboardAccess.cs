using System.Net;
using Microsoft.AspNetCore.Http;

namespace Cairn.Dashboard.Pages.Access;

/// <summary>Decides who may use a dashboard.</summary>
internal interface IDashboardAccess
{
    /// <summary>Gets the user for requests without a login; null if a login is required.</summary>
    DashboardUser? Anonymous { get; }

    /// <summary>Returns the user if the password is right, otherwise null. A wrong name takes as long as a wrong password.</summary>
    DashboardUser? Authenticate(string name, string password);

    /// <summary>Returns whether the host of a request is one of this server's. Addresses and localhost always are.</summary>
    bool IsKnownHost(HttpContext context);

    /// <summary>Returns null if the request may see the dashboard, otherwise the reason for the refusal.</summary>
    string? Refuse(HttpContext context) => null;

    /// <summary>Returns whether a host is an address or localhost. An attacker's DNS name cannot be either of them.</summary>
    public static bool IsAddress(string host) =>
        host.Equals("localhost", StringComparison.OrdinalIgnoreCase)
        || host.EndsWith(".localhost", StringComparison.OrdinalIgnoreCase)
        || IPAddress.TryParse(host.Trim('[', ']'), out _);
}
