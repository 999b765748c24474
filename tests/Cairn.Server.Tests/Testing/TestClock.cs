namespace Cairn.Server.Tests.Testing;

/// <summary>A clock for time-outs and timers. The test moves its time.</summary>
internal sealed class TestClock : TimeProvider
{
    private readonly List<TestTimer> _timers = [];
    private long _milliseconds = 1_000_000;

    public override long TimestampFrequency => 1000;

    public override long GetTimestamp() => Volatile.Read(ref _milliseconds);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new TestTimer(() => callback(state));
        _timers.Add(timer);
        return timer;
    }

    public void Advance(TimeSpan time) => Interlocked.Add(ref _milliseconds, (long)time.TotalMilliseconds);

    /// <summary>Fires all timers.</summary>
    public void FireTimers() => _timers.ForEach(timer => timer.Fire());

    private sealed class TestTimer(Action action) : ITimer
    {
        private bool _isStopped;

        public void Fire()
        {
            if (!_isStopped)
            {
                action();
            }
        }

        public bool Change(TimeSpan dueTime, TimeSpan period) => true;

        public void Dispose() => _isStopped = true;

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
