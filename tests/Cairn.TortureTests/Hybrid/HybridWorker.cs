using System.Diagnostics;
using Cairn.Caching;
using Cairn.TortureTests.Histories;

namespace Cairn.TortureTests.Hybrid;

/// <summary>The flows of one cache.</summary>
internal sealed class HybridWorker : IDisposable
{
    private readonly HybridRun _run;
    private readonly Journal[] _journals;
    private readonly HybridLoop[] _loops;

    public HybridWorker(HybridRun run, CairnHybridCache cache, int worker)
    {
        _run = run;
        int[] flows = [.. Enumerable.Range(0, HybridRun.Flows)];
        _journals = [.. flows.Select(flow => Journal.Create(run.JournalOf(worker, flow), run.JournalCapacity, NumberOf(worker, flow)))];
        _loops = [.. flows.Select(flow => new HybridLoop(
            cache, _journals[flow], new Random(TortureRun.SeedOf(run.Seed, NumberOf(worker, flow))), NumberOf(worker, flow), run.HotKeys))];
    }

    public static int NumberOf(int worker, int flow) => (worker * HybridRun.Flows) + flow + 1;

    public Task WorkAsync()
    {
        long start = Stopwatch.GetTimestamp();
        return Task.WhenAll(_loops.Select(loop => Task.Run(
            () => loop.RunAsync(() => Stopwatch.GetElapsedTime(start).TotalMilliseconds > _run.Milliseconds))));
    }

    /// <summary>Looks for every key once, when all others have come to rest.</summary>
    public Task LookAtAllAsync() => _loops[0].LookAtAllAsync();

    public IEnumerable<Operation> Operations() => _journals.SelectMany(journal => journal.Operations());

    public void Dispose() => Array.ForEach(_journals, journal => journal.Dispose());
}
