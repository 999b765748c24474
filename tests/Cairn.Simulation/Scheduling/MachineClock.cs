namespace Cairn.Simulation.Scheduling;

/// <summary>The clock of the machine whose work runs at this moment. It takes the place of <see cref="TimeProvider.System"/>.</summary>
internal sealed class MachineClock : TimeProvider
{
    public static readonly MachineClock Instance = new();

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    public override long GetTimestamp() => World.Current.Here.Monotonic;

    public override DateTimeOffset GetUtcNow() => World.Current.Here.Day;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new MachineTimer(World.Current.Here, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }
}

/// <summary>A timer on the clock of one machine.</summary>
internal sealed class MachineTimer(Place place, TimerCallback callback, object? state) : ITimer
{
    private static readonly SendOrPostCallback s_fire = static armed => ((Armed)armed!).Timer.Fire((Armed)armed!);

    private Armed? _armed;

    public bool Change(TimeSpan dueTime, TimeSpan period)
    {
        _armed = null;
        if (dueTime != Timeout.InfiniteTimeSpan)
        {
            Arm(dueTime, period);
        }

        return true;
    }

    public void Dispose() => _armed = null;

    public ValueTask DisposeAsync()
    {
        Dispose();
        return ValueTask.CompletedTask;
    }

    private void Arm(TimeSpan dueTime, TimeSpan period)
    {
        _armed = new Armed(this, period);
        place.Schedule(dueTime, s_fire, _armed);
    }

    private void Fire(Armed armed)
    {
        if (_armed != armed)
        {
            return;
        }

        _armed = null;
        if (armed.Period != Timeout.InfiniteTimeSpan && armed.Period > TimeSpan.Zero)
        {
            Arm(armed.Period, armed.Period);
        }

        callback(state);
    }

    /// <summary>One setting of the timer: a later one replaces it.</summary>
    internal sealed record Armed(MachineTimer Timer, TimeSpan Period);
}
