using System.Diagnostics;
using Cairn.TortureTests.Histories;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Hybrid;

/// <summary>
/// Eight processes get, set and remove 10,000 keys and their tags through hybrid caches over one store file. Some of the processes are killed.
/// HybridHistory then checks the operations of all of them.
/// </summary>
public sealed class HybridProcessTests(ITestOutputHelper output)
{
    private const int Processes = 8;
    private const int HotKeys = 40;

    private static readonly int Rounds = TortureRun.Count(inShort: 1, inLong: 60);
    private static readonly int MillisecondsPerRound = TortureRun.Count(inShort: 5_000, inLong: 60_000);
    private static readonly int KillsPerRound = TortureRun.Count(inShort: 3, inLong: 30);

    [Fact]
    public void No_process_reads_what_is_older_than_an_acknowledged_change()
    {
        var torture = new TortureRun(output);
        for (int round = 0; round < Rounds; round++)
        {
            Work(torture, torture.Random.Next());
        }
    }

    private void Work(TortureRun torture, int seed)
    {
        using var directory = new StoreDirectory();
        var random = new Random(seed);
        var run = new HybridRun(directory.Path, seed, MillisecondsPerRound, HotKeys);
        var workers = new List<HybridProcess>();
        try
        {
            for (int i = 0; i < Processes; i++)
            {
                // The smallest first levels evict nearly everything, the largest nothing.
                workers.Add(new HybridProcess(run with { LocalMaxEntries = i % 2 == 0 ? 200 : 100_000 }, workers.Count));
            }

            workers.ForEach(worker => worker.Expect("open"));
            workers.ForEach(worker => worker.Go());
            long start = Stopwatch.GetTimestamp();
            for (int i = 1; i <= KillsPerRound; i++)
            {
                TimeSpan next = (TimeSpan.FromMilliseconds(MillisecondsPerRound) * i / (KillsPerRound + 1)) - Stopwatch.GetElapsedTime(start);
                Thread.Sleep(next > TimeSpan.Zero ? next : TimeSpan.Zero); // A kill must come at any moment, so it waits for no event.
                HybridProcess[] alive = [.. workers.Where(worker => worker.IsAlive)];
                alive[random.Next(alive.Length)].Kill();
                int left = (int)(MillisecondsPerRound - Stopwatch.GetElapsedTime(start).TotalMilliseconds);
                var successor = new HybridProcess(run with { Milliseconds = Math.Max(500, left) }, workers.Count);
                workers.Add(successor);
                successor.Expect("open");
                successor.Go();
            }

            List<HybridProcess> survivors = [.. workers.Where(worker => worker.IsAlive)];
            survivors.ForEach(worker => worker.Expect("done"));
            long restsFrom = Stopwatch.GetTimestamp();
            survivors.ForEach(worker => worker.Go());
            survivors.ForEach(worker => worker.Expect("done"));
            workers.ForEach(worker => worker.End());
            Check(torture, [.. workers.SelectMany(worker => worker.Operations())], restsFrom);
        }
        finally
        {
            workers.ForEach(worker => worker.Dispose());
        }
    }

    private void Check(TortureRun torture, Operation[] operations, long restsFrom)
    {
        var history = new HybridHistory(operations, restsFrom);
        output.WriteLine(history.ToString());
        Console.WriteLine(history);

        Assert.True(history.Faults.Count == 0, $"{history.Faults.Count} faults.\n{string.Join('\n', history.Faults.Take(3))}\n{torture.Replay}");
        Assert.True(
            history.Overlaps.Count == 0,
            $"{history.Overlaps.Count} factories ran beside another of their key.\n{string.Join('\n', history.Overlaps.Take(3))}\n{torture.Replay}");
        Assert.True(
            history.Repetitions.Count * 100 <= history.FactoryRuns,
            $"{history.Repetitions.Count} factories made again what was there.\n{string.Join('\n', history.Repetitions.Take(3))}\n{torture.Replay}");
        Assert.True(history.FactoryRuns > 50 && history.Reads > 500, $"Too little was done: {history}");
    }
}

/// <summary>One process of the run.</summary>
internal sealed class HybridProcess(HybridRun run, int worker, string role = "hybrid-work", params string[] more) : IDisposable
{
    private readonly ChildProcess _process = ChildProcess.Start(
        typeof(Program), [role, worker.ToString(System.Globalization.CultureInfo.InvariantCulture), .. run.ToArguments(), .. more]);

    private long _deathTime = long.MaxValue;

    public bool IsAlive => _deathTime == long.MaxValue;

    public void Expect(string line) => Assert.Equal(line, _process.TryReadLine());

    public void Go() => _process.WriteLine("go");

    public void Kill()
    {
        _process.Kill();
        _deathTime = Stopwatch.GetTimestamp();
    }

    public void End()
    {
        if (IsAlive)
        {
            Assert.Equal(0, _process.Finish());
            _deathTime = Stopwatch.GetTimestamp();
        }
    }

    public IEnumerable<Operation> Operations() => Enumerable.Range(0, HybridRun.Flows + 1)
        .Where(flow => File.Exists(run.JournalOf(worker, flow)))
        .SelectMany(flow => Journal.Read(run.JournalOf(worker, flow), HybridWorker.NumberOf(worker, flow), _deathTime, hasAllPending: true));

    public void Dispose() => _process.Dispose();
}
