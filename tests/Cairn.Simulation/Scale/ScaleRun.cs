// One point of a curve: machines use a server as in production until their caches are warm, then everything is counted. If the case says so, the
// server then goes away with all connections and all keys, and the recovery is measured.
using System.Net;
using Cairn.Simulation.Network;
using Cairn.Simulation.Scheduling;
using Cairn.Simulation.Servers;

namespace Cairn.Simulation.Scale;

internal sealed class ScaleRun
{
    private const int StartMs = 1_000;
    private const int WarmMs = 8_000;
    private const int RecoveryMs = 30_000;
    private const int BusyMs = 5_000;

    private readonly ScaleCase _case;
    private readonly World _world = new(ScaleCase.Seed, new History(isKept: false)) { MaxEvents = long.MaxValue };
    private readonly VirtualNetwork _network;
    private readonly List<VirtualRedis> _servers = [];
    private readonly ScaleMachine[] _machines;
    private readonly ScaleSource _source = new(ScaleCase.Keys);

    private ScaleRun(ScaleCase scale)
    {
        _case = scale;
        _network = new VirtualNetwork(_world);
        var place = new IPEndPoint(IPAddress.Loopback, scale.Shards > 0 ? VirtualCluster.FirstPort : 6379);
        if (scale.Shards > 0)
        {
            _servers = new VirtualCluster(_world, _network, scale.Shards, hasReplicas: false, NewServer).Servers;
        }
        else
        {
            _servers.Add(NewServer("server"));
            _network.Add(place, _servers[0]);
        }

        var keys = new ZipfKeys(ScaleCase.Keys);
        _machines = [.. Enumerable.Range(0, scale.Machines).Select(number => new ScaleMachine(_world, _network, number, scale, place, keys, _source))];
    }

    /// <summary>Measures a point.</summary>
    public static ScaleRow Run(ScaleCase scale) => new ScaleRun(scale).Run();

    private static long Ticks(long milliseconds) => milliseconds * TimeSpan.TicksPerMillisecond;

    private VirtualRedis NewServer(string name) => new(_world, name, SeededRandom.For(ScaleCase.Seed, name))
    {
        Costs = ServerCosts.Measured,
        Tracks = _case.Telling != Telling.Publish,
        TracksByKey = _case.Telling == Telling.TrackKeys,
    };

    private ScaleRow Run()
    {
        foreach (ScaleMachine machine in _machines)
        {
            _world.Schedule(Ticks((long)StartMs * Array.IndexOf(_machines, machine) / _machines.Length), machine.Start);
        }

        RunUntil(WarmMs);
        _source.Reset();
        Sums before = SumUp();
        RunUntil(WarmMs + _case.MeasuredMs);
        Sums sums = SumUp().Since(before);
        double changes = Math.Max(1, _source.Changes);
        double reads = Math.Max(1, _source.Reads);
        double hitRatio = sums.Hits / reads;
        var row = new ScaleRow
        {
            Telling = ScaleCase.Of(_case.Telling),
            Machines = _case.Machines,
            ChangePercent = _case.ChangePercent,
            Shards = _case.Shards,
            ChangesPerSecond = _source.Changes * 1_000.0 / _case.MeasuredMs,
            MessagesPerChange = sums.Pushes / changes,
            BytesPerChange = sums.PushedBytes / changes,
            CommandsPerSecond = sums.Commands * 1_000.0 / _case.MeasuredMs,
            Busy = sums.MostBusy / (double)Ticks(_case.MeasuredMs),
            Tracked = sums.Tracked,
            HitRatio = hitRatio,
            StaleRatio = _source.Stale.Count / reads,
            StaleP50Ms = ScaleSource.Percentile(_source.Stale, 0.5),
            StaleP99Ms = ScaleSource.Percentile(_source.Stale, 0.99),
            StaleLongestMs = ScaleSource.Percentile(_source.Stale, 1),
            FactoryRunsPerChange = _source.FactoryRuns / changes,
            ReadP99Ms = ScaleSource.Percentile(_source.Waits, 0.99),
        };
        Fail();
        return _case.OutageMs < 0 ? row : row with { Recovery = Recover(hitRatio, sums.Commands * 100 / _case.MeasuredMs) };
    }

    private ScaleRecovery Recover(double hitRatio, long commandsBefore)
    {
        VirtualRedis server = _servers[0];
        _source.Reset();
        _network.Drop(server, isSilent: false);
        server.Crash();
        server.IsListening = false;
        long goneAt = _world.Now;
        _world.Schedule(Ticks(_case.OutageMs), () => server.IsListening = true);
        RunUntil((goneAt / TimeSpan.TicksPerMillisecond) + _case.OutageMs);
        double? receiving = null;
        double? recovered = null;
        long mostConnections = 0;
        long mostCommands = 0;
        long busyBefore = server.Counters.BusyTicks;
        long busy = 0;
        Sums of100Ms = SumUp();
        long readsOf100Ms = _source.Reads;
        long connections = server.Counters.Connections;
        long backAt = _world.Now / TimeSpan.TicksPerMillisecond;
        for (int ms = 10; ms <= RecoveryMs && (ms <= BusyMs || receiving is null || recovered is null); ms += 10)
        {
            RunUntil(backAt + ms);
            mostConnections = Math.Max(mostConnections, server.Counters.Connections - connections);
            connections = server.Counters.Connections;
            receiving ??= Array.TrueForAll(_machines, machine => machine.IsReceiving) ? ms : null;
            if (ms == BusyMs)
            {
                busy = server.Counters.BusyTicks - busyBefore;
            }

            if (ms % 100 == 0)
            {
                Sums sums = SumUp();
                Sums since = sums.Since(of100Ms);
                mostCommands = Math.Max(mostCommands, since.Commands);
                recovered ??= receiving is not null && since.Hits >= (hitRatio - 0.01) * (_source.Reads - readsOf100Ms) ? ms : null;
                (of100Ms, readsOf100Ms) = (sums, _source.Reads);
            }
        }

        Fail();
        return new ScaleRecovery
        {
            OutageMs = _case.OutageMs,
            ReceivingMs = receiving ?? RecoveryMs,
            HitRatioMs = recovered ?? RecoveryMs,
            ConnectionsIn10Ms = mostConnections,
            CommandsIn100Ms = mostCommands,
            CommandsIn100MsBefore = commandsBefore,
            BusyMs = busy / (double)TimeSpan.TicksPerMillisecond,
            FactoryRuns = _source.FactoryRuns,
            LongestReadMs = ScaleSource.Percentile(_source.Waits, 1),
        };
    }

    private void RunUntil(long milliseconds) => _world.RunUntil(Ticks(milliseconds));

    private void Fail()
    {
        if (_world.Failure is { } failure)
        {
            throw new InvalidOperationException($"A run of {_case} failed.", failure);
        }
    }

    private Sums SumUp()
    {
        long hits = 0;
        foreach (ScaleMachine machine in _machines)
        {
            _world.RunAt(machine, () => hits += machine.Statistics.LocalHits);
        }

        return new Sums(
            hits,
            _servers.Sum(server => server.Counters.Commands),
            _servers.Sum(server => server.Counters.Pushes),
            _servers.Sum(server => server.Counters.PushedBytes),
            _servers.Sum(server => server.Counters.Tracked),
            [.. _servers.Select(server => server.Counters.BusyTicks)]);
    }

    private sealed record Sums(long Hits, long Commands, long Pushes, long PushedBytes, long Tracked, long[] Busy)
    {
        public long MostBusy => Busy.Max();

        public Sums Since(Sums before) => new(
            Hits - before.Hits,
            Commands - before.Commands,
            Pushes - before.Pushes,
            PushedBytes - before.PushedBytes,
            Tracked,
            [.. Busy.Zip(before.Busy, (now, then) => now - then)]);
    }
}
