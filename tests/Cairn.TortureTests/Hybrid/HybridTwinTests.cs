using System.Diagnostics;
using System.Runtime.CompilerServices;
using Cairn.Caching;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Hybrid;

/// <summary>The history of a broken cache shows its defect. Three caches, each with its own opening of the store, act as processes.</summary>
public sealed class HybridTwinTests(ITestOutputHelper output)
{
    private const int Caches = 3;
    private const int HotKeys = 6;
    private const int MillisecondsPerRound = 1_000;
    private const int RoundsAtMost = 15;

    /// <summary>
    /// Runs over a store, over a store that is too small and evicts leases, and over a distributed cache in memory. Also runs with one cache without a
    /// second level, where calls with different flags need no lease.
    /// </summary>
    [Theory]
    [InlineData("store")]
    [InlineData("small store")]
    [InlineData("memory")]
    [InlineData("none")]
    public async Task Whole_caches_show_no_fault(string level)
    {
        var torture = new TortureRun(output);

        HybridHistory history = await WorkAsync(torture, HybridDefect.None, level);

        output.WriteLine(history.ToString());
        Assert.True(
            level is "small store" or "none" || history.Overlaps.Count == 0,
            $"{history.Overlaps.Count} factories ran beside another.\n{string.Join('\n', history.Overlaps.Take(3))}\n{torture.Replay}");
        Assert.True(history.Faults.Count == 0, $"{string.Join('\n', history.Faults.Take(3))}\n{torture.Replay}");
        Assert.True(history.Reads > 1_000, $"Too little was done: {history}");
    }

    [Fact]
    public Task Cache_whose_hits_do_not_ask_for_changes_is_caught() => ExpectFaultsAsync(HybridDefect.HitsWithoutAsking);

    [Fact]
    public Task Cache_that_keeps_without_a_look_at_changes_is_caught() => ExpectFaultsAsync(HybridDefect.KeepsWithoutLooking);

    [Fact]
    public Task Cache_whose_flights_are_joined_after_a_change_is_caught() => ExpectFaultsAsync(HybridDefect.JoinsAfterChange);

    private async Task ExpectFaultsAsync(HybridDefect defect, [CallerMemberName] string test = "")
    {
        var torture = new TortureRun(output, test);
        for (int round = 1; round <= RoundsAtMost; round++)
        {
            HybridHistory history = await WorkAsync(torture, defect, "store").ConfigureAwait(false);
            if (history.Faults.Count > 0)
            {
                output.WriteLine($"Round {round}: {history.Faults.Count} faults.\n{history.Faults[0]}");
                return;
            }
        }

        Assert.Fail($"Nothing was noticed. {torture.Replay}");
    }

    private static async Task<HybridHistory> WorkAsync(TortureRun torture, HybridDefect defect, string level)
    {
        using var directory = new StoreDirectory();
        var run = new HybridRun(directory.Path, torture.Random.Next(), MillisecondsPerRound, HotKeys);
        var stores = new List<CairnStore>();
        var caches = new List<CairnHybridCache>();
        var workers = new List<HybridWorker>();
        try
        {
            var memory = new MemoryDistributedCache(Options.Create(new MemoryDistributedCacheOptions()));
            for (int i = 0; i < (level == "none" ? 1 : Caches); i++)
            {
                if (level.EndsWith("store", StringComparison.Ordinal))
                {
                    stores.Add(CairnStore.Open(level == "store" ? run.Store : run.Store with { CapacityBytes = StoreLimits.MinCapacityBytes }));
                    caches.Add(BrokenHybrid.Create(run.OptionsOf(stores[i]), stores[i], defect));
                }
                else
                {
                    caches.Add(CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = level == "memory" ? memory : null }));
                }

                workers.Add(new HybridWorker(run, caches[i], i));
            }

            await Task.WhenAll(workers.Select(worker => worker.WorkAsync())).ConfigureAwait(false);
            long restsFrom = Stopwatch.GetTimestamp();
            await Task.WhenAll(workers.Select(worker => worker.LookAtAllAsync())).ConfigureAwait(false);
            return new HybridHistory([.. workers.SelectMany(worker => worker.Operations())], restsFrom);
        }
        finally
        {
            workers.ForEach(worker => worker.Dispose());
            caches.ForEach(cache => cache.Dispose());
            stores.ForEach(store => store.Dispose());
        }
    }
}
