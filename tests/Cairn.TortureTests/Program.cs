using Cairn.TortureTests.Damage;
using Cairn.TortureTests.Hybrid;
using Cairn.TortureTests.Kills;
using Cairn.TortureTests.Processes;
using Cairn.TortureTests.Workloads;

namespace Cairn.TortureTests;

/// <summary>Runs this assembly as a child process of a test (see ChildProcess). The first argument names the role; the others are the
/// role's arguments.</summary>
internal static class Program
{
    private static readonly Dictionary<string, Action<string[]>> Roles = new(StringComparer.Ordinal)
    {
        ["backup-victim"] = LogRoles.BackupVictim,
        ["damage-scribble"] = DamageRoles.Scribble,
        ["damage-seeds"] = DamageRoles.Seeds,
        ["damage-use"] = DamageRoles.Use,
        ["damage-work"] = DamageRoles.WorkScribbled,
        ["hybrid-make"] = HybridRoles.Make,
        ["hybrid-redis"] = HybridRoles.WorkOverRedis,
        ["hybrid-work"] = HybridRoles.Work,
        ["kill-victim"] = KillRoles.Victim,
        ["kill-worker"] = KillRoles.Worker,
        ["log-victim"] = LogRoles.Victim,
        ["restore-victim"] = LogRoles.RestoreVictim,
        ["serve"] = ProcessRoles.Serve,
        ["stop-at"] = ProcessRoles.StopAt,
        ["stop-with-pins"] = ProcessRoles.StopWithPins,
        ["work"] = WorkerRole.Work,
    };

    private static int Main(string[] args) => TestRoles.Run(Roles, args);
}
