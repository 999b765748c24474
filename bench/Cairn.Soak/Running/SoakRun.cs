using System.Diagnostics;
using Cairn.Soak.Drift;
using Cairn.Soak.Load;
using Cairn.Soak.Measuring;

namespace Cairn.Soak.Running;

/// <summary>
/// Runs pieces of a soak test with two servers, each with a store of its own. One server lives as long as the call, so that its leaks add up. The
/// other server is killed at random times while it works. A second process has its store open too.
/// </summary>
internal sealed class SoakRun(SoakOptions options, SoakFolder folder, Action<string> say) : IDisposable
{
    private readonly SoakServer _steady = new("steady", options.Tool, folder.StorePath("steady"));
    private readonly SoakServer _killed = new("killed", options.Tool, folder.StorePath("killed"));

    /// <summary>Runs the pieces, then ends the servers in good order. Returns false if a fault was found.</summary>
    public bool Run(string commit, CancellationToken stop)
    {
        bool isRight = true;
        _steady.Start();
        _killed.Start();
        for (int i = 0; i < options.Pieces && !stop.IsCancellationRequested; i++)
        {
            PieceSummary piece = RunPiece(commit, stop);
            folder.Add(piece);
            isRight &= piece.Faults.Count == 0;
            say($"piece {piece.Number}: {piece.Requests:N0} requests, {piece.Kills} kills, {piece.Connections:N0} connections, {piece.Faults.Count} faults");
            foreach (string fault in piece.Faults)
            {
                say($"  {fault}");
            }
        }

        foreach (SoakServer server in (SoakServer[])[_steady, _killed])
        {
            if (server.Stop() is not 0)
            {
                say($"the server '{server.Name}' did not end in good order; its log is beside {server.StorePath}");
                isRight = false;
            }
        }

        return isRight;
    }

    public void Dispose()
    {
        _steady.Dispose();
        _killed.Dispose();
    }

    private PieceSummary RunPiece(string commit, CancellationToken stop)
    {
        int number = folder.State.Pieces + 1;
        int seed = unchecked((folder.State.Seed * 31) + number);
        var tally = new LoadTally();
        var samples = new List<ServerSample>();
        long began = Stopwatch.GetTimestamp();
        int kills = 0;
        _killed.ForgetRestarts();

        // Each piece has keys of its own, because its model does not know the values of earlier pieces.
        string name = $"p{LineConnection.Text(number)}";
        int rate = Math.Max(options.RequestsPerSecond / 2, 1);
        using (var steadyLoad = new LoadCrew(name, _steady.Ports, rate, seed, tally))
        using (var killedLoad = new LoadCrew(name, _killed.Ports, rate, seed + 100, tally))
        {
            kills = RunLoad(new Random(seed), seed, began, [(_steady, steadyLoad), (_killed, killedLoad)], samples, tally, stop);
        }

        TimeSpan loaded = Stopwatch.GetElapsedTime(began);
        while (Stopwatch.GetElapsedTime(began) < loaded + options.IdleTime && !stop.WaitHandle.WaitOne(options.SampleInterval))
        {
        }

        foreach (SoakServer server in (SoakServer[])[_steady, _killed])
        {
            Sample(server, new LatencyWindow(), began, isIdle: true, samples, tally);
            CheckFile(server, tally);
        }

        ServerSummary[] servers = [.. samples.GroupBy(sample => sample.Server).Select(group => Summarize(group.Key, [.. group]))];
        return new PieceSummary(
            number, Stopwatch.GetElapsedTime(began).TotalSeconds, commit, tally.Requests, kills, tally.Connections, tally.Faults, servers);
    }

    // Takes samples, kills and restarts until the load ends. Returns the number of kills.
    private int RunLoad(
        Random random,
        int seed,
        long began,
        IReadOnlyList<(SoakServer Server, LoadCrew Load)> served,
        List<ServerSample> samples,
        LoadTally tally,
        CancellationToken stop)
    {
        TimeSpan length = options.Piece - options.IdleTime;
        int kills = 0;
        TimeSpan nextKill = NextKill(random);
        EmbeddedWorker embedded = EmbeddedWorker.Start(_killed.StorePath, seed);
        try
        {
            while (Stopwatch.GetElapsedTime(began) < length && !stop.WaitHandle.WaitOne(options.SampleInterval))
            {
                foreach ((SoakServer server, LoadCrew load) in served)
                {
                    Sample(server, load.Latencies, began, isIdle: false, samples, tally);
                }

                if (Stopwatch.GetElapsedTime(began) >= nextKill)
                {
                    nextKill = Stopwatch.GetElapsedTime(began) + NextKill(random);
                    kills++;
                    if (random.Next(3) == 0)
                    {
                        embedded.Dispose();
                        embedded = EmbeddedWorker.Start(_killed.StorePath, seed + kills);
                    }
                    else
                    {
                        _killed.KillAndRestart();
                    }
                }
            }

            if (embedded.Finish() is not 0 and var code)
            {
                tally.AddFault($"the process that shares the store ended with {LineConnection.Text(code)}");
            }
        }
        finally
        {
            embedded.Dispose();
        }

        return kills;
    }

    private TimeSpan NextKill(Random random) => options.KillInterval * (0.5 + random.NextDouble());

    private void Sample(
        SoakServer server, LatencyWindow latencies, long began, bool isIdle, List<ServerSample> samples, LoadTally tally)
    {
        (int count, double p50, double p99) = latencies.Take();
        if (server.Figures is not { } figures)
        {
            tally.AddFault($"the server '{server.Name}' is gone");
            return;
        }

        double at = folder.State.SecondsRun + Stopwatch.GetElapsedTime(began).TotalSeconds;
        var sample = new ServerSample(at, server.Name, isIdle, figures, server.FileBytes, server.FolderBytes, count, p50, p99);
        samples.Add(sample);
        folder.Append(sample);
        if (sample.FolderBytes > (long)SoakServer.MaxCapacityMiB << 20)
        {
            tally.AddFault($"the store of '{server.Name}' takes {sample.FolderBytes:N0} bytes on the disk");
        }
    }

    // Reads the file while the server has it open.
    private static void CheckFile(SoakServer server, LoadTally tally)
    {
        VerifyReport report = StoreMaintenance.Verify(server.StorePath);
        if (!report.IsSound)
        {
            tally.AddFault($"the store of '{server.Name}' is not sound: {string.Join("; ", report.Findings.Take(3))}");
        }
    }

    private ServerSummary Summarize(string name, IReadOnlyList<ServerSample> samples)
    {
        ServerSample idle = samples.Last(sample => sample.IsIdle);
        ServerSample[] loaded = [.. samples.Where(sample => !sample.IsIdle)];
        return new ServerSummary(
            name,
            idle.Process.AnonymousBytes,
            (long)Median(loaded.Select(sample => (double)sample.Process.AnonymousBytes)),
            idle.Process.Descriptors,
            idle.Process.Threads,
            idle.Process.Mappings,
            idle.FileBytes,
            idle.FolderBytes,
            Median(loaded.Select(sample => sample.P50Ms)),
            Median(loaded.Select(sample => sample.P99Ms)),
            name == _killed.Name ? _killed.LongestRestart.TotalMilliseconds : 0);
    }

    // Returns the median, or 0 without values.
    private static double Median(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Where(value => !double.IsNaN(value)).Order()];
        return sorted.Length == 0 ? 0 : sorted[sorted.Length / 2];
    }
}
