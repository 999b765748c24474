// A load from beginning to end: connect, load the keys, warm up, measure, remove the keys. Workers send the requests. This thread watches
// them, shows the progress, and replaces lost connections.
using System.Collections.Concurrent;
using Cairn.Cli.Clients;
using Cairn.Server.Metrics;

namespace Cairn.Cli.Load;

internal sealed class LoadRun : IDisposable
{
    private const int PipelineOfFilling = 64;
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan TimeBetweenTries = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan TimeBetweenReports = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan TimeBetweenFigures = TimeSpan.FromMilliseconds(500);

    /// <summary>The time after which a run is given up if the server does not answer.</summary>
    private static readonly TimeSpan LongestAbsence = TimeSpan.FromSeconds(10);

    /// <summary>The time after which a run is given up if no connection is left and the server accepts none. A restart may take as long.</summary>
    private static readonly TimeSpan LongestRefusal = TimeSpan.FromSeconds(3);

    /// <summary>The time limit for the replies to the last requests.</summary>
    private static readonly TimeSpan LongestWaitForLast = TimeSpan.FromSeconds(5);

    private readonly LoadPlan _plan;
    private readonly ToolConsole _console;
    private readonly bool _isJson;
    private readonly List<LoadWorker> _workers = [];
    private readonly ServerErrors _errors = new();
    private readonly ConcurrentQueue<LostConnection> _lost = new();
    private readonly Queue<LostConnection> _toReplace = new();
    private readonly List<string> _complaints = [];
    private TimeSpan? _away;
    private ServerTarget _target;
    private string _serverName = "";
    private long _lostConnections;
    private long _nextTryAt;
    private long _answered;
    private long _answeredAt;
    private long _nextReportAt;
    private long _unreported;
    private string _lastReason = "";

    public LoadRun(LoadPlan plan, ToolConsole console, bool isJson)
    {
        _plan = plan;
        _console = console;
        _isJson = isJson;
        _target = plan.Target;
    }

    private LoadCounters Counters => LoadCounters.Sum(_workers.Select(worker => worker.Counters));

    private bool IsInterrupted => _console.Interruption.IsCancellationRequested;

    /// <summary>Runs the whole load.</summary>
    /// <exception cref="ToolException">The server cannot be reached, or no longer answers.</exception>
    /// <exception cref="OperationCanceledException">The run was interrupted before the measurement.</exception>
    public LoadResult Run()
    {
        Connect();
        try
        {
            if (_plan.IsFilledFirst)
            {
                Perform(new LoadJob(LoadStep.Fill, _plan.Keys, PipelineOfFilling, null), "Loading");
                _console.Interruption.ThrowIfCancellationRequested();
            }

            return Measure();
        }
        finally
        {
            if (!_plan.IsKept && (_plan.IsFilledFirst || _plan.SetPercent > 0))
            {
                Remove();
            }
        }
    }

    public void Dispose()
    {
        foreach (LoadWorker worker in _workers)
        {
            worker.Dispose();
        }

        foreach (string complaint in _complaints)
        {
            ErrorMessages.WriteWarning(_console, _isJson, complaint);
        }
    }

    private void Connect()
    {
        ServerLink first = ServerLink.Open(_target);

        // The other connections then skip the detection.
        _target = _target with { Protocol = first.Protocol };
        _serverName = first.ServerName;
        var values = new LoadValues(_plan.MinValueBytes, _plan.MaxValueBytes);
        var forms = new RequestForms(first.Protocol, _plan, values);
        for (int i = 0; i < Math.Min(_plan.Threads, _plan.Connections); i++)
        {
            _workers.Add(new LoadWorker(_plan, forms, _lost));
        }

        for (int i = 0; i < _plan.Connections; i++)
        {
            _console.Interruption.ThrowIfCancellationRequested();
            LoadWorker worker = _workers[i % _workers.Count];
            var connection = new LoadConnection(
                _plan, first.Protocol, i, Math.Max(_plan.Pipeline, PipelineOfFilling), forms, values, worker.Counters, _errors);
            worker.Add(connection, i == 0 ? first : ServerLink.Open(_target));
        }
    }

    private LoadResult Measure()
    {
        var job = new LoadJob(LoadStep.Mix, _plan.Requests, _plan.Pipeline, _plan.RequestsPerSecond);
        using var line = new ProgressLine(_console, "", "");
        LoadCounters before = Counters;
        TimeSpan processorBefore = Environment.CpuUsage.TotalTime;
        long startedAt = LoadJob.Now;
        List<Thread> threads = Start(job);
        bool isDone = true;

        // A fixed number of requests has no warm-up: it counts from the first request on.
        if (_plan.Requests is null && _plan.Warmup > TimeSpan.Zero)
        {
            isDone = WaitUntil(job, threads, _plan.Warmup, elapsed => Show(line, "Warming up", null, _plan.Warmup - elapsed));
            before = Counters;
            processorBefore = Environment.CpuUsage.TotalTime;
            startedAt = LoadJob.Now;
        }

        if (isDone)
        {
            TimeSpan duration = _plan.Requests is null ? _plan.Duration : TimeSpan.MaxValue;
            LoadCounters shown = before;
            long shownAt = startedAt;
            isDone = WaitUntil(job, threads, duration, elapsed =>
            {
                LoadCounters now = Counters;
                long time = LoadJob.Now;
                Show(line, Describe(now.Since(shown), Since(shownAt, time)), job, duration == TimeSpan.MaxValue ? null : duration - elapsed);
                shown = now;
                shownAt = time;
            });
        }

        bool isComplete = isDone && !IsInterrupted;
        LoadCounters counters = Counters.Since(before);
        TimeSpan elapsed = Since(startedAt, LoadJob.Now);
        TimeSpan processor = Environment.CpuUsage.TotalTime - processorBefore;
        job.Stop();
        Finish(threads);
        CountLost();
        return new LoadResult
        {
            Plan = _plan,
            ServerName = _serverName,
            Protocol = _target.Protocol!.Value.ToString().ToLowerInvariant(),
            Counters = counters,
            Elapsed = elapsed,
            ProcessorTime = processor,
            IsComplete = isComplete,
            Errors = _errors.List(),
            LostConnections = _lostConnections,
            LostRequests = Counters.LostRequests,
            WrongValues = Counters.WrongValues,
        };
    }

    // Runs also after an interruption, so that no keys stay behind. A second interruption ends the process at once.
    private void Remove()
    {
        if (_away is { } away)
        {
            _complaints.Add($"the keys under {LoadPlan.KeyPrefix} were not removed: {AwayFor(away)}");
            return;
        }

        try
        {
            Perform(new LoadJob(LoadStep.Remove, _plan.Keys, PipelineOfFilling, null), "Removing the keys", goesOnWhenInterrupted: true);
        }
        catch (ToolException failure) when (failure.ExitCode == ExitCode.Server)
        {
            _complaints.Add($"the keys under {LoadPlan.KeyPrefix} could not all be removed: {failure.Message}");
        }
    }

    private void Perform(LoadJob job, string action, bool goesOnWhenInterrupted = false)
    {
        List<Thread> threads = Start(job);
        using var line = new ProgressLine(_console, action, "keys");
        while (threads.Any(thread => thread.IsAlive))
        {
            if (IsInterrupted && !goesOnWhenInterrupted)
            {
                job.Stop();
            }

            Thread.Sleep(Tick);
            ThrowIfAway(job, threads, Absence());
            line.Report(job.Taken, job.Taken, job.Requests);
        }

        Finish(threads);
    }

    private List<Thread> Start(LoadJob job)
    {
        _answeredAt = 0;
        return [.. _workers.Select(worker => worker.Start(job, (long)LongestWaitForLast.TotalNanoseconds))];
    }

    private void Finish(List<Thread> threads)
    {
        foreach (Thread thread in threads)
        {
            thread.Join();
        }

        if (_workers.Select(worker => worker.Failure).FirstOrDefault(failure => failure is not null) is { } failure)
        {
            throw new InvalidOperationException($"a worker ended: {failure.Message}", failure);
        }
    }

    // Returns false if the run was interrupted, or the server has not answered for too long.
    private bool WaitUntil(LoadJob job, List<Thread> threads, TimeSpan time, Action<TimeSpan> show)
    {
        long startedAt = LoadJob.Now;
        TimeSpan nextShow = TimeBetweenFigures;
        while (threads.Any(thread => thread.IsAlive))
        {
            TimeSpan elapsed = Since(startedAt, LoadJob.Now);
            if (elapsed >= time)
            {
                return true;
            }

            TimeSpan left = time - elapsed;
            _console.Interruption.WaitHandle.WaitOne(left < Tick ? left : Tick);
            TimeSpan absence = Absence();
            if (IsAway(absence))
            {
                _away = absence;
            }

            if (IsInterrupted || _away is not null)
            {
                return false;
            }

            elapsed = Since(startedAt, LoadJob.Now);
            if (elapsed >= nextShow && elapsed < time)
            {
                nextShow = elapsed + TimeBetweenFigures;
                show(elapsed);
            }
        }

        return job.Taken == job.Requests;
    }

    private void ThrowIfAway(LoadJob job, List<Thread> threads, TimeSpan absence)
    {
        if (IsAway(absence))
        {
            job.Stop();
            Finish(threads);
            throw new ToolException(ExitCode.Server, AwayFor(absence));
        }
    }

    private bool IsAway(TimeSpan absence) => absence > (_toReplace.Count == _plan.Connections ? LongestRefusal : LongestAbsence);

    private string AwayFor(TimeSpan absence) => $"{_target.Address} has answered nothing for {Figures.Time(absence)}";

    // Replaces lost connections, and returns the time since the last reply of the server.
    private TimeSpan Absence()
    {
        Replace();
        long now = LoadJob.Now;
        long answered = _workers.Sum(worker => worker.Counters.Requests);
        if (answered != _answered || _answeredAt == 0)
        {
            _answered = answered;
            _answeredAt = now;
        }

        return Since(_answeredAt, now);
    }

    private void CountLost()
    {
        while (_lost.TryDequeue(out LostConnection? lost))
        {
            _lostConnections++;
            _unreported++;
            _lastReason = lost.Reason;
            _toReplace.Enqueue(lost);
        }
    }

    // Replaces lost connections, and reports them.
    private void Replace()
    {
        CountLost();
        long now = LoadJob.Now;
        if (_unreported > 0 && now >= _nextReportAt)
        {
            string connections = _unreported == 1 ? "a connection was" : $"{Figures.Count(_unreported)} connections were";
            _console.Error.Write(_console.IsErrorTerminal ? "\r\e[K" : "");
            ErrorMessages.WriteNote(_console, _isJson, $"{connections} lost: {_lastReason}");
            _unreported = 0;
            _nextReportAt = now + (long)TimeBetweenReports.TotalNanoseconds;
        }

        while (now >= _nextTryAt && _toReplace.TryPeek(out LostConnection? lost))
        {
            try
            {
                lost.Worker.Replace(lost.Connection, ServerLink.Open(_target));
                _toReplace.Dequeue();
            }
            catch (ToolException failure) when (failure.ExitCode == ExitCode.Server)
            {
                _nextTryAt = LoadJob.Now + (long)TimeBetweenTries.TotalNanoseconds;
                break;
            }
        }
    }

    private static TimeSpan Since(long start, long end) => TimeSpan.FromTicks((end - start) / TimeSpan.NanosecondsPerTick);

    private static string Describe(LoadCounters counters, TimeSpan elapsed)
    {
        double seconds = Math.Max(elapsed.TotalSeconds, 1e-9);
        var latencies = new LatencyHistogram();
        latencies.Add(counters.GetLatencies);
        latencies.Add(counters.SetLatencies);
        string hits = counters.Gets == 0 ? "" : $" · hits {Figures.Percent((double)counters.Hits / counters.Gets)}";
        string errors = counters.Errors == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $" · {counters.Errors:N0} errors");
        return $"{Figures.Count((long)(counters.Operations / seconds))} operations/s{hits}{errors} · p50 {Figures.Latency(latencies.Percentile(0.5))} · p99 {Figures.Latency(latencies.Percentile(0.99))}";
    }

    private static void Show(ProgressLine line, string text, LoadJob? job, TimeSpan? left)
    {
        string part = job is { Requests: not long.MaxValue } ? $" · {Figures.Percent((double)job.Taken / job.Requests)}" : "";
        line.Show($"{text}{part}{(left is { } time ? $" · {Figures.Time(time)} left" : "")}");
    }
}
