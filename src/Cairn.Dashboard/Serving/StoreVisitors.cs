using System.Security.Cryptography;
using Cairn.Dashboard.Pages.Access;
using Microsoft.AspNetCore.Http;

namespace Cairn.Dashboard.Serving;

/// <summary>Grants access to a store file's dashboard to users who know the secret of its address.</summary>
internal sealed class StoreVisitors(string secret, bool isReadOnly) : IDashboardAccess
{
    public DashboardUser? Anonymous => null;

    public DashboardUser? Authenticate(string name, string password) =>
        CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(password), Encoding.UTF8.GetBytes(secret))
            ? new DashboardUser { MayChange = !isReadOnly, SeesOthers = true }
            : null;

    public bool IsKnownHost(HttpContext context) => IDashboardAccess.IsAddress(context.Request.Host.Host);
}
