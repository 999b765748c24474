using System.Diagnostics;
using Cairn.Caching;
using Cairn.TortureTests.Histories;

namespace Cairn.TortureTests.Hybrid;

/// <summary>Runs the flows of one cache.</summary>
internal sealed class HybridWorker : IDisposable
{
    private readonly HybridRun _run;
    private readonly Journal[] _journals;
    private readonly Journal _factories;
    private readonly HybridLoop[] _loops;
    private bool _isOver;

    public HybridWorker(HybridRun run, CairnHybridCache cache, int worker)
    {
        _run = run;
        int[] flows = [.. Enumerable.Range(0, HybridRun.Flows)];
        _journals = [.. flows.Select(flow => Journal.Create(run.JournalOf(worker, flow), run.JournalCapacity, NumberOf(worker, flow)))];
        _factories = Journal.Create(run.JournalOf(worker, HybridRun.Flows), run.JournalCapacity, NumberOf(worker, HybridRun.Flows));
        _loops = [.. flows.Select(flow => new HybridLoop(
            cache, _journals[flow], RecordMade, new Random(TortureRun.SeedOf(run.Seed, NumberOf(worker, flow))), NumberOf(worker, flow), run.HotKeys))];
    }

    public static int NumberOf(int worker, int flow) => (worker * (HybridRun.Flows + 1)) + flow + 1;

    public Task WorkAsync()
    {
        long start = Stopwatch.GetTimestamp();
        return Task.WhenAll(_loops.Select(loop => Task.Run(
            () => loop.RunAsync(() => Stopwatch.GetElapsedTime(start).TotalMilliseconds > _run.Milliseconds))));
    }

    /// <summary>Looks up every key once, after all other work has ended.</summary>
    public Task LookAtAllAsync() => _loops[0].LookAtAllAsync();

    public IEnumerable<Operation> Operations() => _journals.Append(_factories).SelectMany(journal => journal.Operations());

    public void Dispose()
    {
        Array.ForEach(_journals, journal => journal.Dispose());
        lock (_factories)
        {
            _isOver = true;
            _factories.Dispose();
        }
    }

    // Thread-safe, because several flows and the background run factories at the same time. The last factory may end after all callers have left.
    private void RecordMade(Operation made)
    {
        lock (_factories)
        {
            if (!_isOver)
            {
                _factories.Add(made.Key, made.Effect, made.Value, made.Start, made.End);
            }
        }
    }
}
