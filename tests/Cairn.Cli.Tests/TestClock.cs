namespace Cairn.Cli.Tests;

/// <summary>A clock that stands still until it is moved: both its time of day and its timestamps.</summary>
internal sealed class TestClock : TimeProvider
{
    private DateTimeOffset _now = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override DateTimeOffset GetUtcNow() => _now;

    public override long GetTimestamp() => _now.UtcTicks;

    public void Advance(TimeSpan time) => _now += time;
}
