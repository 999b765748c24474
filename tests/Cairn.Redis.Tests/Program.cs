using Cairn.Redis.Tests.Client;

namespace Cairn.Redis.Tests;

/// <summary>Runs this assembly as a child process of a test (see ChildProcess). The first argument names the role; the others are the
/// role's arguments.</summary>
internal static class Program
{
    private static readonly Dictionary<string, Action<string[]>> Roles = new(StringComparer.Ordinal)
    {
        ["count-allocations"] = AllocationTests.Count,
    };

    private static int Main(string[] args) => TestRoles.Run(Roles, args);
}
