using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Tests.Measuring;

public class OperationContenderTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(1023)]
    [InlineData(1024)]
    [InlineData(5000)]
    public void A_pass_does_every_operation_once_and_in_order(int operations)
    {
        using var contender = new Recorder(operations);

        contender.RunAll();

        Assert.Equal(Enumerable.Range(0, operations), contender.Done);
    }

    [Fact]
    public void Allocation_is_counted_per_operation()
    {
        using var contender = new Allocator(operations: 10_000);
        contender.WarmUp();

        var sample = contender.Measure(round: 0);

        Assert.Equal(Allocator.BytesPerOperation, sample.BytesAllocated, tolerance: 1);
    }

    [Theory]
    [InlineData(10, false)]
    [InlineData(11, true)]
    public void A_pass_with_more_than_a_thousandth_of_misses_is_no_result(int misses, bool fails)
    {
        using var contender = new Misser(operations: 10_000, misses);

        var failure = Record.Exception(contender.RunAll);

        Assert.Equal(fails, failure is InvalidDataException);
    }

    private sealed class Recorder(int operations) : OperationContender("recorder", operations)
    {
        public List<int> Done { get; } = [];

        protected override void Run(int first, int count) => Done.AddRange(Enumerable.Range(first, count));
    }

    private sealed class Allocator(int operations) : OperationContender("allocator", operations)
    {
        // An array of 40 bytes with its length and its header.
        public const int BytesPerOperation = 64;

        private byte[] _last = [];

        protected override void Run(int first, int count)
        {
            for (var i = 0; i < count; i++)
            {
                _last = new byte[40];
            }
        }
    }

    private sealed class Misser(int operations, int misses) : OperationContender("misser", operations)
    {
        protected override void Run(int first, int count) => Misses += Math.Clamp(misses - first, 0, count);
    }
}
