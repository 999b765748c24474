using Cairn.Caching.Tests.Coherence;
using Cairn.Caching.Tests.Distributed;
using Cairn.Caching.Tests.Hybrid;
using Cairn.Caching.Tests.Levels;
using Cairn.Caching.Tests.Serialization;

namespace Cairn.Caching.Tests;

/// <summary>Runs this assembly as a child process of a test (see ChildProcess). The first argument names the role; the others are the
/// role's arguments.</summary>
internal static class Program
{
    private static readonly Dictionary<string, Action<string[]>> Roles = new(StringComparer.Ordinal)
    {
        ["cohere"] = CoherenceRoles.Cohere,
        ["fill-distributed-cache"] = DistributedCacheRoles.Fill,
        ["hold-lease"] = StoreLevelRoles.HoldLease,
        ["hold-locks"] = StoreLevelRoles.HoldLocks,
        ["hybrid-node"] = HybridRoles.Node,
        ["serialize-without-reflection"] = CodecChoiceTests.RunWithoutReflection,
        ["use-distributed-cache"] = DistributedCacheRoles.Use,
    };

    private static int Main(string[] args) => TestRoles.Run(Roles, args);
}
