using System.Diagnostics;
using Cairn.TortureTests.Histories;

namespace Cairn.TortureTests.Workloads;

/// <summary>The worker processes and threads of one run on one store, and the operations of all of them.</summary>
internal sealed class Crew : IDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly List<Worker> _workers = [];
    private readonly List<Journal> _journals = [];
    private int _lastWorker;

    public string StorePath => _directory.FilePath;

    /// <summary>Starts a process, which opens the store. When this returns, the process has opened it or has died.</summary>
    public Worker Start(Func<WorkerOptions, WorkerOptions> choose)
    {
        WorkerOptions options = choose(new WorkerOptions
        {
            StorePath = StorePath,
            JournalDirectory = _directory.Path,
            Worker = ++_lastWorker,
        });
        var worker = new Worker(options, ChildProcess.Start(typeof(Program), ["work", .. options.ToArguments()]));
        _workers.Add(worker);
        return worker;
    }

    /// <summary>Creates the work of a thread of this process.</summary>
    public Workload OwnWorkload(
        CairnStore store, WorkloadKeys keys, Random random, int operations, bool isReader = false, int longest = 60_000)
    {
        int worker = ++_lastWorker * 16;
        Journal journal = Journal.Create(_directory[$"{worker}.journal"], (operations * 4) + (4 * keys.Count) + 64, worker);
        lock (_journals)
        {
            _journals.Add(journal);
        }

        return new Workload(store, keys, journal, random, worker, longest, isReader);
    }

    /// <summary>Returns all operations, including those of killed workers.</summary>
    public IEnumerable<Operation> Operations() =>
    [
        .. _journals.SelectMany(journal => journal.Operations()),
        .. _workers.SelectMany(worker => worker.Operations()),
    ];

    public void ExpectLinearizable(TortureRun run)
    {
        IReadOnlyList<string> faults = HistoryChecker.FindFaults(Operations());
        Assert.True(faults.Count == 0, $"{string.Join('\n', faults.Take(3))}\n{run.Replay}");
    }

    public void Dispose()
    {
        _workers.ForEach(worker => worker.Dispose());
        _journals.ForEach(journal => journal.Dispose());
        _directory.Dispose();
    }
}

/// <summary>One worker process.</summary>
internal sealed class Worker(WorkerOptions options, ChildProcess process) : IDisposable
{
    private long _deathTime = long.MaxValue;

    public int ProcessId => process.Id;

    /// <summary>Waits until the worker has opened the store. Returns false if it died instead.</summary>
    public bool WaitUntilOpen() => process.TryReadLine() == "open";

    /// <summary>Lets the worker begin.</summary>
    public void Go() => process.WriteLine("go");

    /// <summary>Waits until the worker has done its work. Returns false if it died instead.</summary>
    public bool WaitUntilDone()
    {
        string? line = process.TryReadLine();
        Assert.True(line is null or "done", line);
        if (line is null)
        {
            process.WaitForExit();
            _deathTime = Stopwatch.GetTimestamp();
        }

        return line is not null;
    }

    /// <summary>Waits until the worker has closed the store and ended. Returns false if it died instead.</summary>
    public bool WaitUntilClosed()
    {
        int exitCode = process.Finish();
        _deathTime = Stopwatch.GetTimestamp();
        return exitCode == 0;
    }

    public void Kill()
    {
        process.Kill();
        _deathTime = Stopwatch.GetTimestamp();
    }

    public IEnumerable<Operation> Operations() => Enumerable.Range(0, options.Threads)
        .Where(thread => File.Exists(options.JournalOf(thread)))
        .SelectMany(thread => Journal.Read(options.JournalOf(thread), (options.Worker * 16) + thread, _deathTime));

    public void Dispose() => process.Dispose();
}
