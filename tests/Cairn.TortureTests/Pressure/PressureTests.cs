using Cairn.Soak.Pressure;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Pressure;

/// <summary>
/// Many clients read slowly or request too much, while other clients behave well. A benchmark measures the latency of the latter.
/// </summary>
public sealed class PressureTests(ITestOutputHelper output)
{
    private const long MiB = 1 << 20;
    private const int BufferMemoryMiB = 64;

    // Memory that holds no client data, in bytes: connections, free room in the heap, and incomplete requests.
    private const long Unaccounted = 96 * MiB;
    private const long WhenIdleAgain = 32 * MiB;

    // The tool in its build folder, with the same configuration and runtime as these tests.
    private static readonly string s_tool = RepositoryFile.At(
        ["src", "Cairn.Cli", "bin", .. Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory).Split(Path.DirectorySeparatorChar)[^2..], "Cairn.Cli.dll"]);

    [Fact]
    public void Crowd_of_slow_and_greedy_clients_costs_the_others_no_answer_and_the_server_no_memory_in_the_end()
    {
        using var directory = new TestDirectory();
        var options = new PressureOptions
        {
            Tool = ["dotnet", "exec", s_tool],
            Folder = directory.Path,
            SlowReaders = TortureRun.Count(300, 10_000),
            GreedyClients = TortureRun.Count(100, 1_000),
            SteadyClients = TortureRun.Count(50, 1_000),
            RequestsPerSecond = 500,
            Rounds = TortureRun.Count(1, 10),
            Phase = TimeSpan.FromSeconds(2),
            IsPinned = false,
            BufferMemoryMiB = BufferMemoryMiB,
        };

        PressureResult result = PressureRun.Run(options, isBack: (bytes, idle) => bytes <= idle + WhenIdleAgain);

        output.WriteLine(PressureReport.Of(result));
        Assert.All(result.Rounds, round =>
        {
            Assert.Equal((options.SlowReaders + options.GreedyClients, 0), (round.Crowd.Accepted, round.Crowd.Refused));
            Assert.Equal((0, 0, 0), (round.Crowd.ClosedReaders, round.Alone.Failed, round.Pressed.Failed));
            Assert.InRange(round.PeakBytes, 0, result.IdleBytes + (BufferMemoryMiB * MiB) + Unaccounted);
            Assert.InRange(round.LeftBytes, 0, result.IdleBytes + WhenIdleAgain);
        });
    }
}
