using System.Text;
using Cairn.Server.Memcached;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Hosting;

/// <summary>
/// Who may see and do what over HTTP: what they may with the protocols. Where one of those asks who a client is, so does HTTP, and takes the
/// users of both.
/// </summary>
internal sealed class ServerAccess(ServerPlan plan, RespServer resp)
{
    /// <summary>Names by which the server may be reached, beside addresses and localhost.</summary>
    public IReadOnlyList<string> Names { get; } =
    [
        .. (plan.Options.HttpNames ?? "").Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries),
        .. plan.Http.Where(address => address.UnixPath is null && address.Host != "*").Select(address => address.Host),
    ];


    /// <summary>Whom somebody is who has not said; null if that must be said.</summary>
    public RespUser? Anonymous
    {
        get
        {
            (bool servesResp, bool servesMemcached) = plan.Serves;
            if (servesMemcached && plan.MemcachedUsers is not null)
            {
                return null;
            }

            return servesResp ? resp.Users.Initial : RespUser.Everybody;
        }
    }

    /// <summary>The user of that name, if the password is right; null if not.</summary>
    public RespUser? Authenticate(string name, string password)
    {
        byte[] nameBytes = Encoding.UTF8.GetBytes(name);
        byte[] passwordBytes = Encoding.UTF8.GetBytes(password);
        (bool servesResp, bool servesMemcached) = plan.Serves;
        RespUser? user = servesResp ? resp.Users.Authenticate(nameBytes.Length == 0 ? Encoding.UTF8.GetBytes(RespUser.DefaultName) : nameBytes, passwordBytes) : null;
        if (user is null && servesMemcached && plan.MemcachedUsers is { } memcached && memcached.Check(nameBytes, passwordBytes))
        {
            user = new RespUser { Name = Text.Latin(nameBytes) }; // Users of memcached's protocol may do everything.
        }

        return user;
    }
}
