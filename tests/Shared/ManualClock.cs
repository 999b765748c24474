namespace Cairn.Testing;

/// <summary>Time that stands still until the test moves it.</summary>
internal sealed class ManualClock : TimeProvider
{
    private DateTimeOffset _now = new(2026, 1, 2, 3, 4, 5, TimeSpan.Zero);

    public override DateTimeOffset GetUtcNow() => _now;

    public void Advance(TimeSpan time) => _now += time;

    public void Set(DateTimeOffset now) => _now = now;
}
