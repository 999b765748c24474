// Runs a scenario: machines and a server start, calls and failures happen, everything recovers, and the rules judge the end.
using System.Diagnostics;
using Cairn.Simulation.Machines;
using Cairn.Simulation.Network;
using Cairn.Simulation.Rules;
using Cairn.Simulation.Scheduling;
using Cairn.Simulation.Servers;

namespace Cairn.Simulation.Scenarios;

/// <summary>The outcome of a run.</summary>
internal sealed record Outcome(Finding? Finding, string History, double VirtualSeconds, long Events, long Reads, long LongestStaleness);

internal sealed class Simulation
{
    // After the last failure: retransmissions, reconnections, breakers and pending changes of up to five seconds.
    private const int RecoveryMs = 9_000;
    private const int QuietMs = 2_000;
    private const int LastReadsMs = 3_000;

    private readonly Scenario _scenario;
    private readonly World _world;
    private readonly VirtualNetwork _network;
    private readonly VirtualCluster? _cluster;
    private readonly List<VirtualServer> _servers;
    private readonly Machine[] _machines;
    private readonly Machine _late; // Starts after all calls.
    private readonly Source _source;
    private readonly RuleBook _rules;

    private Simulation(Scenario scenario, bool keepsHistory, int twin)
    {
        _scenario = scenario;
        _world = new World(scenario.Seed, new History(keepsHistory), twin);
        _network = new VirtualNetwork(_world);
        _source = new Source(scenario.Keys);
        _rules = new RuleBook(_world, scenario, _source);
        if (scenario.Shards > 0)
        {
            _cluster = new VirtualCluster(_world, _network, scenario.Shards, hasReplicas: true, NewServer) { Lost = _rules.OnLost };
            _servers = [.. _cluster.Servers];
        }
        else
        {
            _servers = [scenario.IsCairn ? Judged(new VirtualCairn(_world, "server", SeededRandom.For(scenario.Seed, "server"), scenario.Keys, scenario.Tracks, scenario.KnowsScripts)) : NewServer("server")];
            _network.Add(scenario.Places[0], _servers[0]);
        }

        _machines = [.. Enumerable.Range(0, scenario.Machines).Select(number => new Machine(_world, _network, number, scenario, _source, _rules))];
        _late = new Machine(_world, _network, scenario.Machines, scenario, _source, _rules) { IsBusy = false };
    }

    public static Outcome Run(Scenario scenario, bool keepsHistory, int twin = 0) => new Simulation(scenario, keepsHistory, twin).Run();

    private static long Ticks(long milliseconds) => milliseconds * TimeSpan.TicksPerMillisecond;

    private VirtualRedis NewServer(string name) =>
        Judged(new VirtualRedis(_world, name, SeededRandom.For(_scenario.Seed, name)) { Tracks = _scenario.Tracks });

    private T Judged<T>(T server)
        where T : VirtualServer
    {
        server.IsDurable = _scenario.IsDurable;
        server.Requested = _rules.OnRequest;
        server.Changed = (key, entry, by) => _rules.OnServerChange(key, entry, by, _scenario.Tracks, server.SentAt);
        return server;
    }

    private Outcome Run()
    {
        try
        {
            return RunAll();
        }
        finally
        {
            _servers.ForEach(server => server.End());
        }
    }

    private Outcome RunAll()
    {
        foreach (Machine machine in _machines)
        {
            _world.Schedule(Ticks(20 * machine.Number), machine.Start);
        }

        foreach (Fault fault in _scenario.Faults)
        {
            _world.Schedule(Ticks(fault.AtMs), () => Begin(fault));
        }

        int lastEndMs = _scenario.Faults.Select(fault => fault.EndMs).Append(_scenario.BusyMs).Max();
        int firstFaultMs = _scenario.Faults.Select(fault => fault.AtMs).Append(lastEndMs).Min();
        _world.Schedule(Ticks(1_000), () => _rules.IsCalm = firstFaultMs > 1_000);
        _world.Schedule(Ticks(firstFaultMs), () => _rules.IsCalm = false);
        _world.Schedule(Ticks(lastEndMs), RecoverAll);
        _world.Schedule(Ticks(lastEndMs + (RecoveryMs / 3)), () => Array.ForEach(_machines, machine => machine.IsBusy = false));
        _world.Schedule(Ticks(lastEndMs + RecoveryMs), () =>
        {
            _rules.IsCalm = true;
            Array.ForEach(_machines, machine => machine.IsBusy = true);
        });
        _world.Schedule(Ticks(lastEndMs + RecoveryMs + QuietMs), () => Array.ForEach(_machines, machine => machine.IsBusy = false));
        long end = Ticks(lastEndMs + RecoveryMs + QuietMs + LastReadsMs);
        _world.Schedule(end - Ticks(1_200), _late.Start);
        _world.Schedule(end - Ticks(1_000), () => _rules.IsQuiet = true);
        _world.Schedule(end, () =>
        {
            _rules.IsQuiet = false;
            ReadAll(isLast: true);
        });
        for (long at = Ticks(500); at < end + Ticks(LastReadsMs) && _rules.Finding is null && _world.Failure is null; at += Ticks(500))
        {
            _world.RunUntil(at);
            _world.Schedule(0, CheckMachines);
        }

        if (_rules.Finding is null && _world.Failure is null)
        {
            _world.Schedule(0, () => _rules.CheckEnd(_machines, _servers.SelectMany(server => server.KeyNames)));
            _world.RunUntil(end + Ticks(LastReadsMs));
        }

        Finding? finding = _world.Failure is { } failure ? new Finding("R7", $"work that no code awaits threw {failure}") : _rules.Finding;
        return new Outcome(finding, _world.History.ToString(), _world.Now / (double)TimeSpan.TicksPerSecond, _world.Events, _rules.Reads, _rules.LongestStaleness);
    }

    private void CheckMachines()
    {
        foreach (Machine machine in _machines.Where(machine => machine.IsRunning))
        {
            _world.RunAt(machine, () => _rules.CheckMachine(machine));
        }
    }

    private void ReadAll(bool isLast)
    {
        foreach (Machine machine in _machines.Append(_late))
        {
            for (int key = 0; key < _source.Keys; key++)
            {
                machine.Read(key, isLast);
            }
        }
    }

    private void Begin(Fault fault)
    {
        _world.History.Add(_world, "fault", fault.ToString());
        Machine[] machines = fault.Machine < 0 ? _machines : fault.Machine < _machines.Length ? [_machines[fault.Machine]] : [];
        foreach (Machine machine in machines)
        {
            BeginOn(fault, machine);
        }

        // A fault of a server is one of a node of a Cluster, master or replica.
        SeededRandom random = SeededRandom.For(_scenario.Seed, "fault", fault.AtMs);
        VirtualServer server = _servers[fault.AtMs % _servers.Count];
        ClusterShard? shard = _cluster?.Shards[fault.AtMs % _cluster.Shards.Count];
        switch (fault.Kind)
        {
            case FaultKind.StallServer:
                if (_cluster?.Shards.FirstOrDefault(shard => shard.Master == server) is { } stalled && server.IsListening)
                {
                    // It goes on as a master for a moment when it wakes up.
                    VirtualRedis woken = stalled.Master;
                    _cluster.Isolate(stalled);
                    _world.Schedule(Ticks(fault.ForMs + 5), () => _cluster.Return(woken));
                }

                server.Stall(Ticks(fault.ForMs));
                break;
            case FaultKind.SlowServer:
                server.Slowness = fault.Amount;
                End(fault, () => server.Slowness = 1);
                break;
            case FaultKind.CrashServer:
                Crash(fault, server, isSilent: fault.Variant == 0);
                break;
            case FaultKind.Evict:
                foreach (string key in server.KeyNames.Where(_ => random.Below(2) == 0).ToArray())
                {
                    server.Evict(key);
                }

                break;
            case FaultKind.Failover when fault.Variant == 0:
                _cluster?.HandOver(shard!);
                break;
            case FaultKind.Failover when shard is not null:
                Crash(fault, shard.Master, isSilent: fault.Variant == 1);
                break;
            case FaultKind.Isolate when shard is { Master: { IsListening: true, IsolatedAt: null } master }:
                _cluster!.Isolate(shard);
                End(fault, () => _cluster.Return(master));
                break;
            case FaultKind.MoveSlots:
                _cluster?.Move(random.Below(8_000), (int)fault.Amount, shard!, Ticks(fault.ForMs));
                break;
            default:
                break;
        }
    }

    private void Crash(Fault fault, VirtualServer server, bool isSilent)
    {
        if (!server.IsListening)
        {
            return;
        }

        _network.Drop(server, isSilent);
        server.Crash();
        server.IsListening = false;
        server.IsUnreachable = isSilent;
        if (_cluster?.Shards.FirstOrDefault(shard => shard.Master == server) is { } shard)
        {
            _cluster.ReplaceLater(shard);
        }

        End(fault, () => RestartServer(server));
    }

    private void BeginOn(Fault fault, Machine machine)
    {
        // In a Cluster, a third of the faults of the network are on the way to one node only.
        VirtualServer[] servers = _cluster is not null && fault.AtMs % 3 == 0 ? [_servers[fault.AtMs % _servers.Count]] : [.. _servers];
        Link[] links = [.. servers.Select(server => _network.LinkOf(machine, server))];
        VirtualConnection[] connections = [.. _network.Connections.Where(connection => connection.Machine == machine && servers.Contains(connection.Server))];
        switch (fault.Kind)
        {
            case FaultKind.Latency:
                foreach (Link link in links)
                {
                    link.UpLatency += fault.Variant != 1 ? fault.Amount * 10 : 0;
                    link.DownLatency += fault.Variant != 2 ? fault.Amount * 10 : 0;
                    link.Jitter = fault.Amount * 5;
                }

                End(fault, () => Array.ForEach(links, link => (link.UpLatency, link.DownLatency, link.Jitter) = (2_000, 2_000, 1_000)));
                break;
            case FaultKind.Partition:
                foreach (Link link in links)
                {
                    link.CutUp |= fault.Variant != 1;
                    link.CutDown |= fault.Variant != 2;
                }

                if (fault.Variant == 3)
                {
                    Array.ForEach(connections, connection => connection.Break(tellsMachine: true, tellsServer: true));
                }

                End(fault, () => Array.ForEach(links, _network.Heal));
                break;
            case FaultKind.Cut:
                foreach (VirtualConnection connection in connections)
                {
                    Direction direction = fault.Amount % 2 == 0 ? connection.Up : connection.Down;
                    direction.BreaksAfter = fault.Amount / 2;
                    direction.BreakTells = (fault.Variant != 1, fault.Variant != 2);
                }

                break;
            case FaultKind.StallMachine:
                machine.Stall(Ticks(fault.ForMs));
                break;
            case FaultKind.CrashMachine when machine.IsRunning:
                machine.Crash(isSilent: fault.Variant == 0);
                End(fault, () => Restart(machine));
                break;
            case FaultKind.ClockStep:
                machine.DayOffset = Ticks(fault.Amount);
                break;
            case FaultKind.Drift:
                machine.Drift(1 + (fault.Amount / 1_000_000.0));
                break;
            case FaultKind.Burst when machine.IsRunning:
                machine.Burst((int)fault.Amount);
                break;
            default:
                break;
        }
    }

    private void End(Fault fault, Action end) => _world.Schedule(Ticks(fault.ForMs), () =>
    {
        _world.History.Add(_world, "fault", $"ends: {fault}");
        end();
    });

    private void Restart(Machine machine)
    {
        if (!machine.IsRunning)
        {
            machine.Start();
        }
    }

    private void RestartServer(VirtualServer server)
    {
        bool wasOff = !server.IsListening;
        server.Restart();
        server.IsListening = true;
        server.IsUnreachable = false;
        if (server is VirtualRedis node && (wasOff || node.IsolatedAt is not null))
        {
            _cluster?.Return(node);
        }

        _world.History.Add(_world, server.Name, "starts");
    }

    private void RecoverAll()
    {
        _world.History.Add(_world, "fault", "all failures are over");
        foreach (VirtualServer server in _servers)
        {
            server.Slowness = 1;
            RestartServer(server);
        }

        foreach (VirtualConnection connection in _network.Connections)
        {
            connection.Up.BreaksAfter = connection.Down.BreaksAfter = -1;
        }

        foreach (Machine machine in _machines)
        {
            foreach (Link link in _servers.Select(server => _network.LinkOf(machine, server)))
            {
                (link.UpLatency, link.DownLatency, link.Jitter) = (2_000, 2_000, 1_000);
                _network.Heal(link);
            }

            Restart(machine);
        }
    }
}
