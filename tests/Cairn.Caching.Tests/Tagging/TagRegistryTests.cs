using System.Runtime.CompilerServices;
using Cairn.Caching.Tagging;
using Cairn.Engine;

namespace Cairn.Caching.Tests.Tagging;

public sealed class TagRegistryTests
{
    [Fact]
    public void Tags_that_no_entry_carries_any_more_leave_their_places()
    {
        var registry = new TagRegistry(KeyHasher.Random());
        for (int round = 0; round < 100; round++)
        {
            AddMany(registry, round);
            GC.Collect();
        }

        Assert.InRange(registry.Places, 1, 10_000);
    }

    // A separate method, so that no register keeps a tag.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AddMany(TagRegistry registry, int round)
    {
        for (int i = 0; i < 1000; i++)
        {
            registry.Get($"{round}:{i}");
        }
    }
}
