using Xunit.Abstractions;

namespace Cairn.TortureTests.Hybrid;

/// <summary>A hybrid cache returns what the model allows, for random operations at random times.</summary>
public sealed class HybridModelTests(ITestOutputHelper output)
{
    private const int Operations = 300;

    private static readonly int Runs = TortureRun.Count(inShort: 60, inLong: 20_000);

    [Theory]
    [InlineData("none", 1)]
    [InlineData("memory", 1)]
    [InlineData("memory", 2)]
    [InlineData("store", 1)]
    [InlineData("store", 2)]
    public async Task Cache_returns_what_its_model_allows(string level, int caches)
    {
        var torture = new TortureRun(output);
        for (int i = 0; i < Runs; i++)
        {
            // The first run uses the seed itself, so that a given seed repeats that run.
            int seed = i == 0 ? torture.Seed : torture.Random.Next();
            try
            {
                using var run = new HybridModelRun(seed, level, caches);
                await run.RunAsync(Operations);
            }
            catch (ModelFaultException fault)
            {
                Assert.Fail($"{fault.Message}\n{torture.ReplayOf(seed)}");
            }
        }
    }
}
