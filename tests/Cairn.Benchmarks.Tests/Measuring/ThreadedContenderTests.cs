using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Tests.Measuring;

public class ThreadedContenderTests
{
    [Fact]
    public void Workers_run_at_the_same_time()
    {
        using var meeting = new Barrier(2);
        using var contender = new ThreadedContender("two", [new Meeter(meeting), new Meeter(meeting)]);

        contender.Measure(round: 0);

        Assert.Equal(1, meeting.CurrentPhaseNumber);
    }

    [Fact]
    public void Failure_of_a_worker_is_the_failure_of_the_round()
    {
        using var contender = new ThreadedContender("two", [new Failer()]);

        Assert.Throws<InvalidOperationException>(() => contender.Measure(round: 0));
    }

    /// <summary>Ends its first operation only when the other worker is in its first operation too.</summary>
    private sealed class Meeter(Barrier meeting) : OperationContender("meeter", operations: 1)
    {
        private bool _hasMet;

        protected override void Run(int first, int count)
        {
            if (!_hasMet)
            {
                _hasMet = true;
                meeting.SignalAndWait();
            }
        }
    }

    private sealed class Failer() : OperationContender("failer", operations: 1)
    {
        protected override void Run(int first, int count) => throw new InvalidDataException("lost");
    }
}
