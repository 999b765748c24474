using Cairn.Caching.Coherence;
using Cairn.Steps;
using Xunit.Abstractions;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>
/// Random orders of the steps of changes, fills and hits. A reader that has caught up finds nothing older than an acknowledged change. A
/// failure names the seed of its run; CAIRN_SEED repeats only that run.
/// </summary>
public sealed class CoherenceInterleavingTests(ITestOutputHelper output) : IDisposable
{
    private const string SeedVariable = "CAIRN_SEED";
    private const int Runs = 400;

    [ThreadStatic]
    private static CoherenceModel? t_model;

    private readonly CoherentStore _stage = new();

    static CoherenceInterleavingTests() => ProtocolHook.Handler = static step =>
    {
        if (step == ProtocolStep.RingCellsRead)
        {
            t_model?.Inject();
        }
    };

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Reader_that_has_caught_up_finds_nothing_older_than_an_acknowledged_change() =>
        Assert.Null(FirstFault(() => new StoreCoherence(_stage.Store)));

    [Fact]
    public void Twin_without_a_defect_holds() => Assert.Null(FirstFault(() => new BrokenCoherence(_stage.Store, CoherenceDefect.None)));

    [Fact]
    public void Keeping_without_a_look_at_the_changes_since_the_mark_is_caught() => ExpectCaught(CoherenceDefect.KeepsWithoutLooking);

    [Fact]
    public void Overrun_that_is_taken_for_nothing_is_caught() => ExpectCaught(CoherenceDefect.IgnoresOverruns);

    private void ExpectCaught(CoherenceDefect defect) =>
        Assert.NotNull(FirstFault(() => new BrokenCoherence(_stage.Store, defect)));

    private string? FirstFault(Func<ICoherence> make)
    {
        bool isReplay = int.TryParse(Environment.GetEnvironmentVariable(SeedVariable), out int first);
        first = isReplay ? first : Random.Shared.Next(int.MaxValue - Runs);
        int kept = 0;
        int refused = 0;
        int hits = 0;
        for (int seed = first; seed < first + (isReplay ? 1 : Runs); seed++)
        {
            _stage.Use(make());
            var model = new CoherenceModel(_stage, seed);
            t_model = model;
            model.Run();
            t_model = null;
            if (model.Fault is not null)
            {
                return $"{model.Fault} {SeedVariable}={seed}";
            }

            kept += model.Kept;
            refused += model.Refused;
            hits += model.Hits;
        }

        output.WriteLine($"{SeedVariable}={first}: {kept} kept, {refused} refused, {hits} hits.");
        Assert.True(isReplay || (kept > Runs && refused > Runs && hits > Runs), "The runs have tried too little.");
        return null;
    }
}
