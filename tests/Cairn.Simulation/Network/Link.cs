using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Network;

/// <summary>The way between one machine and one server. Times are in ticks of 100 ns.</summary>
internal sealed class Link
{
    public long UpLatency { get; set; } = 2_000;

    public long DownLatency { get; set; } = 2_000;

    /// <summary>Gets or sets the longest time that is added to a latency at random.</summary>
    public long Jitter { get; set; } = 1_000;

    public bool CutUp { get; set; }

    public bool CutDown { get; set; }

    public bool IsCut(bool isUp) => isUp ? CutUp : CutDown;

    public long Latency(SeededRandom random, bool isUp) => (isUp ? UpLatency : DownLatency) + random.Between(0, Jitter);
}
