using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.Tests.Storage;

public sealed class StoreClockTests
{
    [Fact]
    public void Deadline_has_passed_exactly_from_its_moment_on_by_the_callers_clock()
    {
        var time = new ManualClock();
        var clock = new StoreClock(time, HostPlatform.Current);
        long now = time.Now.ToUnixTimeMilliseconds();

        Assert.False(clock.HasPassed(now + 1));
        Assert.True(clock.HasPassed(now));
        Assert.False(clock.HasPassed(now - 4, agoMs: 5));
        Assert.True(clock.HasPassed(now - 5, agoMs: 5));
        Assert.False(clock.HasPassed(long.MaxValue));
        Assert.True(clock.HasPassed(long.MinValue));
    }

    [Fact]
    public void Systems_clock_decides_as_the_exact_time_for_near_and_far_deadlines()
    {
        var clock = new StoreClock(TimeProvider.System, HostPlatform.Current);
        for (int i = 0; i < 2000; i++)
        {
            // Within the margin, in which the time of the last tick does not decide, and beyond it.
            long deadline = clock.NowMs() + (i % 400) - 200;
            long before = clock.NowMs();
            bool hasPassed = clock.HasPassed(deadline);
            long after = clock.NowMs();

            Assert.True(hasPassed ? deadline <= after : deadline > before, $"{before}, {deadline}, {after}: {hasPassed}");
        }

        Assert.False(clock.HasPassed(long.MaxValue));
        Assert.False(clock.HasPassed(long.MaxValue, agoMs: 1_000_000));
        Assert.True(clock.HasPassed(long.MinValue));
        Assert.True(clock.HasPassed(0, agoMs: 1_000_000));
    }

    [Fact]
    public void Time_of_the_last_tick_is_not_ahead_of_the_time()
    {
        if (!OperatingSystem.IsLinux())
        {
            Assert.True(HostPlatform.Current.TickUnixMs > DateTimeOffset.MaxValue.ToUnixTimeMilliseconds());
            return;
        }

        for (int i = 0; i < 1000; i++)
        {
            Assert.True(HostPlatform.Current.TickUnixMs <= DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        }
    }
}
