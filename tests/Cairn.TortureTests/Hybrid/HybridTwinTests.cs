using Cairn.Caching;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Hybrid;

/// <summary>That the history of a broken cache shows it: three caches, each with an opening of the store of its own, do what processes do.</summary>
public sealed class HybridTwinTests(ITestOutputHelper output)
{
    private const int Caches = 3;
    private const int HotKeys = 6;
    private const int MillisecondsPerRound = 1_000;
    private const int RoundsAtMost = 15;

    [Fact]
    public async Task Whole_caches_show_no_fault()
    {
        var torture = new TortureRun(output);

        HybridHistory history = await WorkAsync(torture, HybridDefect.None);

        Assert.True(history.Faults.Count == 0, $"{string.Join('\n', history.Faults.Take(3))}\n{torture.Replay}");
        Assert.True(history.Reads > 1_000, $"Too little was done: {history}");
    }

    [Fact]
    public Task Cache_whose_hits_do_not_ask_for_changes_is_caught() => ExpectFaultsAsync(HybridDefect.HitsWithoutAsking);

    [Fact]
    public Task Cache_that_keeps_without_a_look_at_changes_is_caught() => ExpectFaultsAsync(HybridDefect.KeepsWithoutLooking);

    [Fact]
    public Task Cache_whose_flights_are_joined_after_a_change_is_caught() => ExpectFaultsAsync(HybridDefect.JoinsAfterChange);

    private async Task ExpectFaultsAsync(HybridDefect defect)
    {
        var torture = new TortureRun(output, defect.ToString());
        for (int round = 1; round <= RoundsAtMost; round++)
        {
            HybridHistory history = await WorkAsync(torture, defect).ConfigureAwait(false);
            if (history.Faults.Count > 0)
            {
                output.WriteLine($"Round {round}: {history.Faults.Count} faults.\n{history.Faults[0]}");
                return;
            }
        }

        Assert.Fail($"Nothing was noticed. {torture.Replay}");
    }

    private static async Task<HybridHistory> WorkAsync(TortureRun torture, HybridDefect defect)
    {
        using var directory = new StoreDirectory();
        var run = new HybridRun(directory.Path, torture.Random.Next(), MillisecondsPerRound, HotKeys);
        var stores = new List<CairnStore>();
        var caches = new List<CairnHybridCache>();
        var workers = new List<HybridWorker>();
        try
        {
            for (int i = 0; i < Caches; i++)
            {
                stores.Add(CairnStore.Open(run.Store));
                caches.Add(BrokenHybrid.Create(run.OptionsOf(stores[i]), stores[i], defect));
                workers.Add(new HybridWorker(run, caches[i], i));
            }

            await Task.WhenAll(workers.Select(worker => worker.WorkAsync())).ConfigureAwait(false);
            await Task.WhenAll(workers.Select(worker => worker.LookAtAllAsync())).ConfigureAwait(false);
            return new HybridHistory([.. workers.SelectMany(worker => worker.Operations())]);
        }
        finally
        {
            workers.ForEach(worker => worker.Dispose());
            caches.ForEach(cache => cache.Dispose());
            stores.ForEach(store => store.Dispose());
        }
    }
}
