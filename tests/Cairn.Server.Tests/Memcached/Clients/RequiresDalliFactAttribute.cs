namespace Cairn.Server.Tests.Memcached.Clients;

/// <summary>
/// A fact that runs dalli with the meta commands, which it supports from version 3.2. Debian 12 has version 3.0, and there the test is
/// skipped; MemcachedScripts contains the requests that dalli sends.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RequiresDalliFactAttribute : FactAttribute
{
    private static readonly string[] s_places = ["/usr/share/rubygems-integration/all/gems", "/var/lib/gems"];

    public RequiresDalliFactAttribute()
    {
        bool isThere = s_places.Where(Directory.Exists).Any(place => Directory
            .EnumerateFiles(place, "meta.rb", SearchOption.AllDirectories)
            .Any(file => file.EndsWith("dalli/protocol/meta.rb", StringComparison.Ordinal)));
        if (!isThere)
        {
            Skip = "dalli 3.2 or later, which has the meta commands, is not installed";
        }
    }
}
