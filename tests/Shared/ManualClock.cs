namespace Cairn.Testing;

/// <summary>A clock that stands still until the test moves it.</summary>
/// <param name="hasTimers">
/// True if the clock also controls timestamps and timers. Timers then fire within <see cref="Advance"/>, each at its own moment. Otherwise timestamps
/// and timers are the system's, which servers under test need.
/// </param>
internal sealed class ManualClock(bool hasTimers = false) : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<ManualTimer> _timers = [];
    private long _ticks = new DateTimeOffset(2030, 1, 1, 0, 0, 0, TimeSpan.Zero).UtcTicks;
    private long _elapsedTicks;

    public DateTimeOffset Now => GetUtcNow();

    public override long TimestampFrequency => hasTimers ? TimeSpan.TicksPerSecond : base.TimestampFrequency;

    /// <summary>Gets the number of timers that have not fired yet.</summary>
    public int WaitingTimers
    {
        get
        {
            lock (_gate)
            {
                return _timers.Count;
            }
        }
    }

    public override DateTimeOffset GetUtcNow() => new(Volatile.Read(ref _ticks), TimeSpan.Zero);

    public override long GetTimestamp() => hasTimers ? Volatile.Read(ref _elapsedTicks) : base.GetTimestamp();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        if (!hasTimers)
        {
            return base.CreateTimer(callback, state, dueTime, period);
        }

        var timer = new ManualTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Moves the clock forward. A negative time moves it back, but moves neither timestamps nor timers.</summary>
    public void Advance(TimeSpan time)
    {
        long left = time.Ticks;
        while (left > 0 && TakeDue(Volatile.Read(ref _elapsedTicks) + left) is { } timer)
        {
            long step = Math.Max(0, timer.DueAt - Volatile.Read(ref _elapsedTicks));
            left -= step;
            Interlocked.Add(ref _elapsedTicks, step);
            Interlocked.Add(ref _ticks, step);
            timer.Fire();
        }

        Interlocked.Add(ref _elapsedTicks, Math.Max(0, left));
        Interlocked.Add(ref _ticks, left);
    }

    public void Set(DateTimeOffset now) => Volatile.Write(ref _ticks, now.UtcTicks);

    // Removes and returns the earliest timer that is due by then.
    private ManualTimer? TakeDue(long elapsedTicks)
    {
        lock (_gate)
        {
            ManualTimer? first = _timers.MinBy(timer => timer.DueAt);
            if (first is null || first.DueAt > elapsedTicks)
            {
                return null;
            }

            _timers.Remove(first);
            return first;
        }
    }

    private sealed class ManualTimer(ManualClock clock, TimerCallback callback, object? state) : ITimer
    {
        private long _periodTicks;

        public long DueAt { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._gate)
            {
                clock._timers.Remove(this);
                _periodTicks = period.Ticks;
                if (dueTime >= TimeSpan.Zero)
                {
                    DueAt = Volatile.Read(ref clock._elapsedTicks) + dueTime.Ticks;
                    clock._timers.Add(this);
                }
            }

            return true;
        }

        public void Fire()
        {
            if (_periodTicks > 0)
            {
                Change(TimeSpan.FromTicks(_periodTicks), TimeSpan.FromTicks(_periodTicks));
            }

            callback(state);
        }

        public void Dispose()
        {
            lock (clock._gate)
            {
                clock._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }
    }
}
