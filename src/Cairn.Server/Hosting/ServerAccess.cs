using Cairn.Server.Memcached;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Hosting;

/// <summary>
/// The permissions over HTTP. They are the same as with the protocols. If one of the protocols requires authentication, so does HTTP, and
/// it accepts the users of both.
/// </summary>
internal sealed class ServerAccess(ServerPlan plan, RespServer resp)
{
    /// <summary>Gets the names under which the server may be reached, in addition to addresses and localhost.</summary>
    public IReadOnlyList<string> Names { get; } =
    [
        .. (plan.Options.HttpNames ?? "").Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries),
        .. plan.Http.Where(address => address.UnixPath is null && address.Host != "*").Select(address => address.Host),
    ];

    /// <summary>Gets the user of a request without authentication; null if authentication is required.</summary>
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

    /// <summary>Returns the user with this name if the password is right; otherwise null.</summary>
    public RespUser? Authenticate(string name, string password)
    {
        byte[] nameBytes = Encoding.UTF8.GetBytes(name);
        byte[] passwordBytes = Encoding.UTF8.GetBytes(password);
        (bool servesResp, bool servesMemcached) = plan.Serves;
        RespUser? user = servesResp ? resp.Users.Authenticate(nameBytes.Length == 0 ? Encoding.UTF8.GetBytes(RespUser.DefaultName) : nameBytes, passwordBytes) : null;
        if (user is null && servesMemcached && plan.MemcachedUsers is { } memcached && memcached.Check(nameBytes, passwordBytes))
        {
            user = new RespUser { Name = Text.Latin(nameBytes) }; // Users of memcached's protocol may execute every command.
        }

        return user;
    }
}
