using System.Runtime.CompilerServices;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// Interleaves leases with everything that ends them. A lease is granted to one caller, has no effect after it is cancelled, and no caller
/// waits for a lease that has ended. Broken twins set a value with a cancelled lease, or sleep without end.
/// </summary>
public sealed class LeaseInterleavingTests(ITestOutputHelper output) : IDisposable
{
    private static readonly byte[] Key = Stage.PinnedKey("key");

    private readonly Stage _stage = new(openings: 2);
    private StoreLease? _lease;

    private CairnStore Holder => _stage[0];

    private CairnStore Other => _stage[1];

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Lease_is_granted_to_one() => new Exploration(output).ExpectHolds(() =>
    {
        _stage.Reset();
        LeaseStatus first = default;
        LeaseStatus second = default;
        return new Scene(
            () => (first, second) is (LeaseStatus.Acquired, LeaseStatus.Held) or (LeaseStatus.Held, LeaseStatus.Acquired)
                ? null : $"{first} and {second}",
            () => first = Holder.DefaultCollection.AcquireLease(Key, TimeSpan.Zero, out _),
            () => second = Other.DefaultCollection.AcquireLease(Key, TimeSpan.Zero, out _));
    });

    [Fact]
    public void Set_ends_a_lease() => ExpectEnded(() => Assert.True(Other.DefaultCollection.Set(Key, "2"u8)), "2");

    [Fact]
    public void Removal_ends_a_lease() => ExpectEnded(() => Other.DefaultCollection.Remove(Key), null);

    [Fact]
    public void Clearing_ends_a_lease() => ExpectEnded(() => Assert.True(Other.DefaultCollection.Clear()), null);

    [Fact]
    public void Retraction_without_the_lock_ends_a_lease() => ExpectEnded(() => Kill(), null);

    [Fact]
    public void Stale_value_does_not_come_back_with_the_lease_that_carries_it()
    {
        MakeStale();

        new Exploration(output).ExpectHolds(() => Retracting(() => Holder.DefaultCollection.AcquireLease(Key, TimeSpan.Zero, out _)));
    }

    [Fact]
    public void Stale_value_does_not_come_back_when_its_lease_is_given_up()
    {
        MakeStale();

        new Exploration(output).ExpectHolds(() => Retracting(GiveUp, isLeased: true));
    }

    [Fact]
    public void Cancelled_lease_is_not_held_again_when_another_gets_one() => new Exploration(output).ExpectHolds(() =>
    {
        Lease();
        bool isCancelled = false;
        bool isHeldAfter = false;
        return new Scene(
            () => isHeldAfter ? "A cancelled lease is held." : null,
            () =>
            {
                Other.DefaultCollection.Remove(Key);
                isCancelled = true;
                Other.DefaultCollection.AcquireLease(Key, TimeSpan.Zero, out _);
            },
            () =>
            {
                for (int i = 0; i < 2; i++)
                {
                    bool wasCancelled = isCancelled;
                    isHeldAfter |= _lease!.IsHeld && wasCancelled;
                }
            });
    });

    [Fact]
    public void Caller_that_waits_for_a_lease_is_woken_by_its_value() => ExpectWoken(() => Assert.True(_lease!.TrySet("1"u8)), LeaseStatus.Hit);

    [Fact]
    public void Caller_that_waits_for_a_lease_is_woken_when_it_is_released() => ExpectWoken(GiveUp, LeaseStatus.Acquired);

    [Fact]
    public void Caller_that_waits_for_a_lease_is_woken_when_it_is_removed() => ExpectWoken(() => Holder.DefaultCollection.Remove(Key), LeaseStatus.Acquired);

    [Fact]
    public void Caller_that_waits_for_a_lease_is_woken_when_it_is_cleared() => ExpectWoken(() => Holder.DefaultCollection.Clear(), LeaseStatus.Acquired);

    [Fact]
    public void Caller_that_waits_for_a_lease_is_woken_when_it_is_retracted_without_the_lock() => ExpectWoken(() => Kill(), LeaseStatus.Acquired);

    [Fact]
    public void Setting_with_a_lease_by_a_plain_store_is_caught() => new Exploration(output).ExpectCaught(
        () => Ending(() => Kill(), null, () => BrokenLeases.TrySet(Holder.Engine, Stage.RefOf(Holder, Key), "1"u8, isPlain: true)));

    [Fact]
    public void Waiting_with_a_signal_that_is_read_late_is_caught() =>
        new Exploration(output).ExpectCaught(() => Waiting(GiveUp, LeaseStatus.Acquired, () => AcquireBroken(isLate: true)));

    [Fact]
    public void Sleeping_without_saying_so_is_caught() =>
        new Exploration(output).ExpectCaught(() => Waiting(GiveUp, LeaseStatus.Acquired, () => AcquireBroken(isSilent: true)));

    [Fact]
    public void Removal_that_does_not_signal_the_end_of_a_lease_is_caught() => new Exploration(output).ExpectCaught(
        () => Waiting(
            () => BrokenHolders.Remove(Holder.Engine, Stage.RefOf(Holder, Key), isPlain: false), LeaseStatus.Acquired, Acquire));

    [Fact]
    public void Twins_without_a_defect_hold()
    {
        var exploration = new Exploration(output);

        exploration.ExpectHolds(
            () => Ending(() => Kill(), null, () => BrokenLeases.TrySet(Holder.Engine, Stage.RefOf(Holder, Key), "1"u8, isPlain: false)));
        exploration.ExpectHolds(() => Waiting(GiveUp, LeaseStatus.Acquired, () => AcquireBroken()));
    }

    private bool Kill() => Other.Engine.Kill(Stage.RefOf(Other, Key));

    private void GiveUp() => _lease!.Dispose();

    private LeaseStatus Acquire() => Other.DefaultCollection.AcquireLease(Key, Timeout.InfiniteTimeSpan, out _);

    private LeaseStatus AcquireBroken(bool isLate = false, bool isSilent = false) =>
        BrokenLeases.Acquire(Other.Engine, Stage.RefOf(Other, Key), isLate, isSilent);

    // Acquires a lease of the first opening; each lease serves one run.
    private void Lease()
    {
        _stage.Reset();
        Assert.Equal(LeaseStatus.Acquired, Holder.DefaultCollection.AcquireLease(Key, TimeSpan.Zero, out _lease));
    }

    private void MakeStale()
    {
        Holder.DefaultCollection.Set(Key, "1"u8, TimeSpan.FromMinutes(1));
        _stage.Clock.Advance(TimeSpan.FromMinutes(2));
        _stage.Keep();
        Assert.True(Holder.DefaultCollection.TryGetStale(Key, new byte[8], out _));
    }

    private void ExpectEnded(Action end, string? value, [CallerMemberName] string test = "") =>
        new Exploration(output, test).ExpectHolds(() => Ending(end, value, () => _lease!.TrySet("1"u8)));

    private void ExpectWoken(Action end, LeaseStatus expected, [CallerMemberName] string test = "")
    {
        Explored explored = new Exploration(output, test).ExpectHolds(() => Waiting(end, expected, Acquire));

        Assert.True(explored.Sleeps > 0);
    }

    // In every order, the operation that ends the lease takes effect last: a value was set with the lease before it, or not at all.
    private Scene Ending(Action end, string? value, Func<bool> trySet)
    {
        Lease();
        return new Scene(
            () => Holder.DefaultCollection.GetString(Key) == value && !_lease!.IsHeld ? null : $"The value is {Holder.DefaultCollection.GetString(Key)}.",
            () => trySet(),
            end);
    }

    private Scene Waiting(Action end, LeaseStatus expected, Func<LeaseStatus> acquire)
    {
        Lease();
        LeaseStatus status = default;
        return new Scene(() => status == expected ? null : $"It ended with {status}.", end, () => status = acquire());
    }

    private Scene Retracting(Action change, bool isLeased = false)
    {
        _stage.Reset();
        if (isLeased)
        {
            Lease();
        }

        return new Scene(
            () => Holder.DefaultCollection.TryGetStale(Key, new byte[8], out _) ? "The stale value is there." : null,
            change,
            () => Kill());
    }
}
