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

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Value_that_is_kept_as_a_change_of_its_key_ends_the_joining_of_other_flights_of_the_key(bool isChange)
    {
        ValueFlight<string> first = Begin();
        Assert.Null(_guard.JoinOrAdd(first));
        Assert.Null(_guard.JoinOrAdd(OfOtherPurpose()));

        Assert.True(_guard.TryKeepAndRemove(first, unjoins: isChange, 0, static _ => { }));

        Assert.Equal(isChange, _guard.JoinOrAdd(OfOtherPurpose()) is null);
        Assert.Null(_guard.JoinOrAdd(Begin()));
    }

    private static ValueFlight<int> OfOtherPurpose() => new("key", hash: 7, purpose: 1);

    private static ValueFlight<string> Begin() => new("key", hash: 7, purpose: 0);
}
