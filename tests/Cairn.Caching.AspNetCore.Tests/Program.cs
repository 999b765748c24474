using Cairn.Caching.AspNetCore.Tests.HybridOutput;
using Cairn.Caching.AspNetCore.Tests.Serving;

namespace Cairn.Caching.AspNetCore.Tests;

/// <summary>
/// The roles of this assembly as the second process of a test (see ChildProcess). The first argument names the role. The other arguments belong to
/// the role.
/// </summary>
internal static class Program
{
    private static readonly Dictionary<string, Func<string[], Task>> Roles = new(StringComparer.Ordinal)
    {
        ["serve-books"] = BookshopRoles.ServeAsync,
        ["serve-hybrid"] = HybridShopRoles.ServeAsync,
    };

    private static async Task<int> Main(string[] args)
    {
        if (args.Length == 0 || !Roles.TryGetValue(args[0], out Func<string[], Task>? role))
        {
            await Console.Error.WriteLineAsync($"Not for use by hand. Run ./test. Roles: {string.Join(", ", Roles.Keys)}");
            return 2;
        }

        await role(args[1..]);
        return 0;
    }
}
