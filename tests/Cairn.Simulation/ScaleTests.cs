using Cairn.Simulation.Scale;

namespace Cairn.Simulation;

/// <summary>The curves of docs/scale.md are those of one seed, and their counts fit together.</summary>
public sealed class ScaleTests
{
    [Fact]
    public void Each_change_is_sent_to_all_machines_when_it_removes_the_value_and_when_a_machine_creates_it_again()
    {
        var scale = new ScaleCase(Telling.TrackPrefixes, Machines: 10, ChangePercent: 10);

        ScaleRow row = ScaleRun.Run(scale);

        Assert.InRange(row.MessagesPerChange, 10, 20);
        Assert.InRange(row.FactoryRunsPerChange, 0.3, 1);
        Assert.InRange(row.HitRatio, 0.3, 0.9);
        Assert.Equal(row, ScaleRun.Run(scale));
    }

    [Fact]
    public void Tracking_by_keys_notifies_only_the_machines_that_have_the_value()
    {
        ScaleRow row = ScaleRun.Run(new ScaleCase(Telling.TrackKeys, Machines: 10, ChangePercent: 10));

        Assert.InRange(row.MessagesPerChange, 1, 9);
        Assert.InRange(row.StaleLongestMs, 0, 20);
        Assert.True(row.Tracked > 10, $"{row}");
    }

    [Fact]
    public void All_machines_receive_changes_again_after_the_loss_of_the_server()
    {
        ScaleRow row = ScaleRun.Run(new ScaleCase(Telling.TrackPrefixes, Machines: 10, ChangePercent: 10, OutageMs: 1_000));

        Assert.InRange(row.Recovery!.ReceivingMs, 10, 3_000);
        Assert.InRange(row.Recovery.ConnectionsIn10Ms, 1, 10);
    }
}
