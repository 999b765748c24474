using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Server;

/// <summary>Compares the server with other servers, each on one core and loaded from the other.</summary>
internal sealed class ServerArea : IArea
{
    private const int FullRounds = 5;
    private const int QuickRounds = 1;
    private const int FullKeys = 1_000_000;
    private const int QuickKeys = 100_000;
    private const double FullSeconds = 2;
    private const double QuickSeconds = 0.3;

    private static readonly (Workload Workload, WorkloadGoals Goals)[] _workloads =
    [
        (new Workload("get, 50 connections", 50, 1), new WorkloadGoals(1) { Fallback = 1, Echo = 0.95 }),
        (new Workload("get, 500 connections", 500, 1), new WorkloadGoals(1) { Fallback = 1, Echo = 0.95 }),
        (new Workload("get, misses", 50, 1) { IsMiss = true }, new WorkloadGoals(1)),
        (new Workload("get, 1 KiB", 50, 1) { ValueBytes = 1 << 10 }, new WorkloadGoals(1)),
        (new Workload("get, 16 KiB", 50, 1) { ValueBytes = 16 << 10 }, new WorkloadGoals(1)),
        (new Workload("get, pipeline 16", 50, 16), new WorkloadGoals(1.6) { Fallback = 1 }),
        (new Workload("get, misses, pipeline 16", 50, 16) { IsMiss = true }, new WorkloadGoals(1.6)),
        (new Workload("get, 1 KiB, pipeline 16", 50, 16) { ValueBytes = 1 << 10 }, new WorkloadGoals(1.6)),
        (new Workload("90/10 get/set, pipeline 16", 50, 16) { SetPercent = 10 }, new WorkloadGoals(1.6) { Fallback = 1 }),
        (new Workload("50/50 get/set, pipeline 16", 50, 16) { SetPercent = 50 }, new WorkloadGoals(1.6)),
        (new Workload("get, pipeline 100", 50, 100), new WorkloadGoals(1.3) { Fallback = 1 }),
        (new Workload("multiget of 100", 50, 100) { IsMultiget = true }, new WorkloadGoals(2.5) { Fallback = 1 }),
        (new Workload("meta get, pipeline 16", 50, 16) { IsMeta = true }, new WorkloadGoals(1.6) { Fallback = 1 }),
        (new Workload("binary get, 50 connections", 50, 1) { IsBinary = true }, new WorkloadGoals(1)),
        (new Workload("binary get, pipeline 16", 50, 16) { IsBinary = true }, new WorkloadGoals(1.6)),
        (new Workload("binary 90/10 get/set, pipeline 16", 50, 16) { IsBinary = true, SetPercent = 10 }, new WorkloadGoals(1.6)),
        (new Workload("get, Unix socket", 50, 1) { IsUnix = true }, new WorkloadGoals(1)),
    ];

    public string Name => "server";

    public void Run(AreaRun run)
    {
        var runtimeFolder = Path.GetDirectoryName(Environment.ProcessPath)!;
        var (tool, readyToRun) = PublishTools(run);
        CairnServerProgram Cairn(string io, string name) => new(tool, runtimeFolder, io, name);

        var generator = LoadGenerator.Build(run.Settings.Root, run.Settings.Folder, run.Settings.IsRealTime, run.Log);
        using var fleet = new ServerFleet(generator, Path.Combine(run.Settings.Folder, "servers"), run.Settings.IsQuick ? QuickKeys : FullKeys);
        var peers = FindPeers(run, runtimeFolder);
        var ring = Cairn("uring", "io_uring");
        var other = readyToRun is null ? null : new CairnServerProgram(readyToRun, runtimeFolder, "uring", "ReadyToRun");
        if (other is not null)
        {
            peers.Add(new Peer(PeerKind.ReadyToRun, other));
        }

        peers.Add(new Peer(PeerKind.Echo, new EchoProgram(runtimeFolder)));
        IReadOnlyList<CairnServerProgram> fallbacks = run.Settings.IsQuick ? [Cairn("epoll", "epoll")] : [Cairn("epoll", "epoll"), Cairn("sockets", "sockets")];
        foreach (var (workload, goals) in _workloads)
        {
            Measure(run, fleet, workload, goals, ring, fallbacks, peers);
        }

        IdleCases.Measure(run, ring, generator, isNative: other is not null);
        if (other is not null)
        {
            IdleCases.Measure(run, other, generator, isNative: false);
        }
    }

    // The tool that is measured, and the ReadyToRun one if the first is native.
    private static (string Tool, string? ReadyToRun) PublishTools(AreaRun run)
    {
        run.Log.Progress("publishing the tool");
        var readyToRun = AheadOfTimeBuild.PublishTool(run.Settings.Root, run.Settings.Folder, isNative: false);
        try
        {
            return (AheadOfTimeBuild.PublishTool(run.Settings.Root, run.Settings.Folder, isNative: true), readyToRun);
        }
        catch (InvalidOperationException failure)
        {
            run.Log.Say($"Measures the ReadyToRun tool only. {failure.Message}");
            return (readyToRun, null);
        }
    }

    private static void Measure(
        AreaRun run,
        ServerFleet fleet,
        Workload workload,
        WorkloadGoals goals,
        CairnServerProgram ring,
        IReadOnlyList<CairnServerProgram> fallbacks,
        IReadOnlyList<Peer> peers)
    {
        run.Measure(workload.Name, run.Settings.IsQuick ? QuickRounds : FullRounds, group =>
        {
            foreach (var protocol in Enum.GetValues<WireProtocol>().Where(workload.Speaks))
            {
                var contenders = peers
                    .Where(peer => (peer.Program.Protocol == protocol || peer.Kind == PeerKind.ReadyToRun)
                        && !(workload.IsUnix && peer.Program is GarnetProgram or CommandProgram) && !(workload.IsBinary && peer.Kind == PeerKind.Other) && (peer.Kind != PeerKind.Echo || goals.Echo is not null))
                    .Select(peer => (peer.Kind, Contender: group.MakePeer(() => Contend(peer.Program, protocol))))
                    .Where(peer => peer.Contender is not null)
                    .ToList();
                if (workload.IsBinary)
                {
                    contenders.Add((PeerKind.Text, Contend(ring with { Name = "Cairn (text protocol)" }, protocol, workload with { IsBinary = false })));
                }

                var subject = group.Enter(Contend(ring, protocol));
                foreach (var (_, contender) in contenders)
                {
                    group.Enter(contender!);
                }

                foreach (var (kind, contender) in contenders)
                {
                    group.Compare(workload.Name, subject, contender, kind.GoalOf(goals), Quantity.CpuThroughput);
                    var latency = kind is PeerKind.ReadyToRun or PeerKind.Echo or PeerKind.Text ? null : Goal.AtMost(1);
                    group.Compare(workload.Name + ", p50", subject, contender, latency, Quantity.MedianLatency);
                    group.Compare(workload.Name + ", p99", subject, contender, latency, Quantity.TailLatency);
                }

                foreach (var fallback in protocol == WireProtocol.Memcached ? fallbacks : [])
                {
                    var contender = group.Enter(Contend(fallback, protocol));
                    foreach (var (kind, peer) in contenders.Where(peer => peer.Kind == PeerKind.Memcached))
                    {
                        var goal = goals.Fallback is { } bound && fallback == fallbacks[0] ? Goal.AtLeast(bound) : null;
                        group.Compare(workload.Name, contender, peer, goal, Quantity.CpuThroughput);
                    }
                }
            }

            ServerContender Contend(ServerProgram program, WireProtocol protocol, Workload? other = null)
            {
                Workload load = other ?? workload;
                run.Log.Progress($"{workload.Name}: starting {program.Name}");
                _ = fleet.Get(program, protocol, load); // Starts now, while the peer can still be left out.
                return new ServerContender(fleet, program, protocol, load, run.Settings.IsQuick ? QuickSeconds : FullSeconds);
            }
        });
    }

    private static List<Peer> FindPeers(AreaRun run, string runtimeFolder)
    {
        var peers = new List<Peer>();
        Find(PeerKind.Memcached, ServerPeers.Memcached);
        Find(PeerKind.Other, ServerPeers.Redis);
        Find(PeerKind.Other, () => ServerPeers.Garnet(run.Settings.Root, runtimeFolder));
        foreach (var peer in ServerPeers.Fetched(run.Settings.Root).Concat(run.Settings.ServerPeers))
        {
            Find(peer.Protocol == WireProtocol.Memcached && !peer.Command.Contains("{port}", StringComparison.Ordinal) ? PeerKind.Memcached : PeerKind.Other, () => ServerPeers.Named(peer));
        }

        return peers;

        void Find(PeerKind kind, Func<ServerProgram> find)
        {
            try
            {
                peers.Add(new Peer(kind, find()));
            }
            catch (PeerUnavailableException unavailable)
            {
                run.Log.Say(unavailable.Message);
            }
        }
    }

    private sealed record Peer(PeerKind Kind, ServerProgram Program);
}

/// <summary>The kind of a peer, which decides the goal.</summary>
internal enum PeerKind
{
    /// <summary>With this one, the event loops for machines without io_uring are compared, too.</summary>
    Memcached,

    /// <summary>Redis, its kin, and servers that the command line names.</summary>
    Other,

    /// <summary>A server on the same engine that executes nothing.</summary>
    Echo,

    /// <summary>This server with the same requests in memcached's text protocol.</summary>
    Text,

    /// <summary>This server, compiled ahead of time by ReadyToRun and again at run time. The subject is the native binary then.</summary>
    ReadyToRun,
}

internal static class PeerKinds
{
    /// <summary>Returns the goal against a peer of this kind; <see langword="null"/> if the comparison only informs.</summary>
    public static Goal? GoalOf(this PeerKind kind, WorkloadGoals goals)
    {
        double? bound = kind switch
        {
            PeerKind.Echo => goals.Echo,
            PeerKind.ReadyToRun => 0.97,
            PeerKind.Text => 1,
            _ => goals.Peer,
        };
        return bound is { } least ? Goal.AtLeast(least) : null;
    }
}
