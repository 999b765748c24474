namespace Cairn.Microbenchmarks;

/// <summary>A clock that can be moved forward.</summary>
internal sealed class ShiftedClock : TimeProvider
{
    public TimeSpan Offset { get; set; }

    public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + Offset;
}
