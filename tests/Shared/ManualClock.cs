namespace Cairn.Testing;

/// <summary>Time that stands still until the test moves it.</summary>
internal sealed class ManualClock : TimeProvider
{
    private long _ticks = new DateTimeOffset(2030, 1, 1, 0, 0, 0, TimeSpan.Zero).UtcTicks;

    public DateTimeOffset Now => GetUtcNow();

    public override DateTimeOffset GetUtcNow() => new(Volatile.Read(ref _ticks), TimeSpan.Zero);

    /// <summary>Moves it on; back, if the time is negative.</summary>
    public void Advance(TimeSpan time) => Interlocked.Add(ref _ticks, time.Ticks);

    public void Set(DateTimeOffset now) => Volatile.Write(ref _ticks, now.UtcTicks);
}
