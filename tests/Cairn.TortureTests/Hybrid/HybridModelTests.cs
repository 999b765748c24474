using Xunit.Abstractions;

namespace Cairn.TortureTests.Hybrid;

/// <summary>That whatever is done to a hybrid cache, and whenever, it returns what the model allows.</summary>
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
            // The first run of a seed is the one that is repeated with it.
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
