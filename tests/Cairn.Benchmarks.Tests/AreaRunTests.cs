using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Tests.Measuring;

namespace Cairn.Benchmarks.Tests;

public sealed class AreaRunTests : IDisposable
{
    private readonly StringWriter _said = new();
    private readonly RunLog _log;
    private readonly AreaRun _run;

    public AreaRunTests()
    {
        _log = new RunLog(_said, isTerminal: false);
        var settings = new RunSettings { Root = ".", Folder = ".", PeersFolder = ".", Rounds = 2 };
        _run = new AreaRun(settings, _log);
    }

    [Fact]
    public void Comparisons_become_findings_in_the_order_asked()
    {
        _run.Measure("group", rounds: 9, group =>
        {
            var subject = group.Enter(new FakeContender("subject", calls: null, new Sample(10, 10, 0)));
            var peer = group.Enter(new FakeContender("peer", calls: null, new Sample(20, 20, 0)));
            group.Compare("get", subject, peer, Goal.AtMost(0.4));
            group.ExpectNoAllocation("get", subject);
        });

        Assert.Equal([(0.5, false), (0.0, true)], _run.Findings.Select(finding => (finding.Ratio!.Value, finding.IsMet!.Value)));
        Assert.False(_run.HasFailures);
    }

    [Fact]
    public void Peer_that_cannot_run_here_is_left_out_and_named()
    {
        _run.Measure("group", rounds: 1, group =>
        {
            var subject = group.Enter(new FakeContender("subject"));
            var peer = group.MakePeer<FakeContender>(() => throw new PeerUnavailableException("LMDB", "not installed."));
            group.Compare("get", subject, peer, Goal.AtMost(1));
        });

        Assert.Empty(_run.Findings);
        Assert.False(_run.HasFailures);
        Assert.Contains("LMDB is left out: not installed.", _said.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Case_that_fails_is_a_goal_not_met_and_others_continue()
    {
        _run.Measure("broken", rounds: 1, group =>
        {
            var subject = group.Enter(new FakeContender("subject"));
            group.Compare("get", subject, subject, Goal.AtMost(1));
            throw new InvalidDataException("lost");
        });
        _run.Check("sound", [], () => [new Finding("open", "subject", "1 ms") { Ratio = 3, Goal = Goal.AtMost(20) }]);

        Assert.True(_run.HasFailures);
        Assert.Equal([false, true], _run.Findings.Select(finding => finding.IsMet!.Value));
        Assert.Equal("failed: lost", _run.Findings[0].Note);
    }

    [Fact]
    public void Objects_of_a_group_are_disposed_when_it_ends()
    {
        FakeContender? entered = null;

        _run.Measure("group", rounds: 1, group => entered = group.Enter(new FakeContender("subject")));

        Assert.True(entered!.IsDisposed);
    }

    public void Dispose()
    {
        _log.Dispose();
        _said.Dispose();
    }
}
