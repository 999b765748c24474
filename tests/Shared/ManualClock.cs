using Microsoft.Extensions.Time.Testing;

namespace Cairn.Testing;

/// <summary>A clock that stands still until the test moves it.</summary>
/// <param name="hasTimers">
/// True if the clock also controls timestamps and timers. Timers then fire within <see cref="Advance"/>, and read the time at its end. Otherwise
/// timestamps and timers are the system's, which servers under test need.
/// </param>
#pragma warning disable CA1852 // One of the test projects that compile this file derives from it.
internal class ManualClock(bool hasTimers = false) : FakeTimeProvider(new DateTimeOffset(2030, 1, 1, 0, 0, 0, TimeSpan.Zero))
#pragma warning restore CA1852
{
    public DateTimeOffset Now => GetUtcNow();

    public override long TimestampFrequency => hasTimers ? base.TimestampFrequency : System.TimestampFrequency;

    public override long GetTimestamp() => hasTimers ? base.GetTimestamp() : System.GetTimestamp();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        hasTimers ? base.CreateTimer(callback, state, dueTime, period) : System.CreateTimer(callback, state, dueTime, period);

    /// <summary>Moves the clock forward. A negative time moves it back, and fires no timer.</summary>
    public new void Advance(TimeSpan time)
    {
        if (time < TimeSpan.Zero)
        {
            AdjustTime(Now + time);
        }
        else
        {
            base.Advance(time);
        }
    }

    /// <summary>Sets the time, and fires no timer.</summary>
    public void Set(DateTimeOffset now) => AdjustTime(now);
}
