using Cairn.Caching.Flights;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>The flights that callers join.</summary>
public sealed class StampedeGuardTests
{
    private readonly StampedeGuard _guard = new();

    [Fact]
    public void Flight_that_makes_the_same_is_joined()
    {
        ValueFlight<string> first = Begin();
        Assert.Null(_guard.JoinOrAdd(first));

        Assert.Same(first, _guard.JoinOrAdd(Begin()));
    }

    [Fact]
    public void Flight_that_has_ended_is_not_joined_although_it_is_not_taken_out_yet()
    {
        ValueFlight<string> first = Begin();
        Assert.Null(_guard.JoinOrAdd(first));
        first.Succeed("old");

        ValueFlight<string> second = Begin();
        Assert.Null(_guard.JoinOrAdd(second));

        Assert.Same(second, _guard.JoinOrAdd(Begin()));
    }

    private static ValueFlight<string> Begin() => new("key", hash: 7, purpose: 0);
}
