// docs/how-to/coherence.md as rules that a run is judged by. "Acknowledged" is as there; a change is visible when the server has it.
//
//   R1  In the machine that made a change, a read that begins after its acknowledgement returns no older value.
//   R2  In other machines, a read that begins more than 2 seconds after a change was acknowledged and visible returns no older value. Without failures,
//       200 milliseconds: a change is known as soon as its message arrives.
//   R3  One factory of a key runs at a time on all machines, unless the key changes meanwhile or a failure was recent.
//   R4  No change is lost: after the last failure, each acknowledged change of a machine that lives becomes visible, and none stays pending.
//   R5  After the last failure, all machines return the same value of a key, and none that R1 and R2 forbid. So does a machine that starts then.
//   R6  Memory is bounded: the first level keeps to its limit, and no lease stays on the server after its call.
//   R7  No call throws because the second level fails, and each ends within the documented limits: a change within a second.
//   R8  Without calls, no machine changes the server, and it sends only what shows whether the connections work.
//   R9  Without changes, a machine with room in memory runs the factory of a key about once a second at most, even if it is cut off. Not in a Cluster:
//       while the node with a tag's stamp does not reply, two machines that have invalidated the tag do not use each other's values.
//
// In a Redis Cluster the rules do not hold for a change that a failed master had acknowledged, and that no replica has: see OnLost.
//
// The exception of the document holds in R1, R2 and R5: of two changes at the same time, the one that reaches the second level last wins. A
// value that is sent late counts as under way until it arrives. Its machine then removes it, unless it is cut off.
using System.Globalization;
using Cairn.Caching;
using Cairn.Simulation.Machines;
using Cairn.Simulation.Scenarios;
using Cairn.Simulation.Scheduling;
using Cairn.Simulation.Servers;

namespace Cairn.Simulation.Rules;

/// <summary>A rule that a run has broken.</summary>
internal sealed record Finding(string Rule, string Text);

/// <summary>The state at the beginning of a read.</summary>
internal sealed record ReadCheck(Machine Machine, int Life, int Key, long BeganAt, int KnownChanges);

internal sealed class RuleBook(World world, Scenario scenario, Source source)
{
    /// <summary>How long a change of another machine may be unknown.</summary>
    private static readonly long s_bound = TimeSpan.FromSeconds(2).Ticks;

    // Clocks advance in steps of a millisecond, work waits for a thread for up to two, and machines' clocks differ by a thousandth.
    private static readonly long s_tolerance = TimeSpan.FromMilliseconds(40).Ticks;

    // A message passes a server that is not overloaded, and two networks.
    private static readonly long s_calmBound = TimeSpan.FromMilliseconds(200).Ticks;

    private static readonly long s_longestChange = TimeSpan.FromSeconds(1).Ticks;

    // To each server. A heartbeat each 300 ms, over two connections.
    private const int MostQuietRequests = 30;

    // A value is kept for one to two seconds while the machine is cut off. Two callers may run the factory of a value that is not kept.
    private const int MostFactories = 7;
    private static readonly long s_factoryWindow = TimeSpan.FromSeconds(5).Ticks;

    // The second level and the channel within a second each, and the default of LeaseWait.
    private static readonly long s_longestCall = TimeSpan.FromSeconds(13).Ticks;

    // A machine that sent a value late removes it when it has learnt of the other change. Until then it may be cut off.
    private static readonly long s_lateLimit = TimeSpan.FromSeconds(4).Ticks;

    public const string Values = "cache:k:k";
    public const string Stamps = "cache:t:";
    public const string Leases = "cairn-lease:";
    public const string Era = "cache:era";

    private readonly Dictionary<int, (long Version, Machine Reader)> _last = [];
    private readonly HashSet<(Machine, int, long)> _created = [];
    private readonly Dictionary<(Machine, int), List<long>> _factories = [];
    private readonly Dictionary<Place, int> _quietRequests = [];

    public Finding? Finding { get; private set; }

    /// <summary>Gets or sets whether no failure is recent.</summary>
    public bool IsCalm
    {
        get;
        set => (field, CalmSince) = (value, world.Now);
    }

    private long CalmSince { get; set; }

    /// <summary>Gets or sets whether no application makes calls, and has made none for some time.</summary>
    public bool IsQuiet { get; set; }

    public long Reads { get; private set; }

    /// <summary>Gets the longest time in ticks after which a read on another machine returned an older value.</summary>
    public long LongestStaleness { get; private set; }

    public ReadCheck BeginRead(Machine machine, int key) => new(machine, machine.Life, key, world.Now, source.ChangesOf(key).Count);

    public void EndRead(ReadCheck check, long version, bool isLast)
    {
        Reads++;
        SourceChange? own = version > 0 && version <= source.VersionOf(check.Key) ? source.ChangesOf(check.Key)[(int)version - 1] : null;
        foreach (SourceChange change in source.ChangesOf(check.Key).Take(check.KnownChanges).Skip((int)Math.Max(0, version)))
        {
            if (change.IsLost || change.AcknowledgedAt > check.BeganAt || own?.MayWinOver(change, check.BeganAt, s_bound, s_lateLimit) == true)
            {
                continue;
            }

            bool isOwn = change.Machine == check.Machine && change.Life == check.Life;
            long since = Math.Max(change.AcknowledgedAt, change.VisibleTo(check.Machine));
            if (isOwn)
            {
                Break("R1", $"{check.Machine.Name} reads version {version} of k{check.Key}, after its own change to version {change.Version} was acknowledged at {Seconds(change.AcknowledgedAt)}");
            }
            else if (since <= check.BeganAt)
            {
                LongestStaleness = Math.Max(LongestStaleness, check.BeganAt - since);
                if (check.BeganAt - since > (IsCalm && since > CalmSince ? s_calmBound : s_bound) + s_tolerance)
                {
                    Break("R2", $"{check.Machine.Name} reads version {version} of k{check.Key} in a call that began at {Seconds(check.BeganAt)}, but version {change.Version} was visible at {Seconds(since)}");
                }
            }
        }

        if (isLast)
        {
            if (!_last.TryAdd(check.Key, (version, check.Machine)) && _last[check.Key] is var other && other.Version != version
                && !IsOfSource(check.Machine, check.Key, version) && !IsOfSource(other.Reader, check.Key, other.Version))
            {
                Break("R5", $"{check.Machine.Name} reads version {version} of k{check.Key} at the end, and {other.Reader.Name} version {other.Version}");
            }
        }
    }

    public FactoryRun BeginFactory(Machine machine, int key)
    {
        var run = new FactoryRun(key, machine, machine.Life, world.Now);
        foreach (FactoryRun other in source.Running.Where(other => other.Key == key))
        {
            bool hasChanged = source.ChangesOf(key).Any(change => change.AcknowledgedAt >= other.StartedAt - TimeSpan.TicksPerSecond);
            if (IsCalm && !hasChanged)
            {
                Break("R3", $"{machine.Name} runs a factory of k{key} while {other.Machine.Name} does since {Seconds(other.StartedAt)}");
            }
        }

        CheckFactories(machine, key);
        source.Running.Add(run);
        world.History.Add(world, machine.Name, $"creates k{key}");
        return run;
    }

    public void EndFactory(FactoryRun run, long version)
    {
        source.Running.Remove(run);
        _created.Add((run.Machine, run.Key, version));
        world.History.Add(world, run.Machine.Name, string.Create(CultureInfo.InvariantCulture, $"has created version {version} of k{run.Key}"));
    }

    /// <summary>Notes that a machine has sent something to the server.</summary>
    public void OnRequest(Place by)
    {
        if (IsQuiet && (_quietRequests[by] = _quietRequests.GetValueOrDefault(by) + 1) > MostQuietRequests * Math.Max(1, 2 * scenario.Shards))
        {
            Break("R8", $"{by.Name} sends {_quietRequests[by]} requests in a second although no application makes calls");
        }
    }

    /// <summary>Judges how long a change of a machine has taken until now.</summary>
    public void CheckTime(Machine machine, OpenCall call)
    {
        long taken = world.Now - call.BeganAt - (machine.Stalled - call.StalledBefore);
        if (call.IsChange && taken > s_longestChange + s_tolerance)
        {
            Break("R7", $"a change by {machine.Name} has taken {Seconds(taken)} s");
        }
    }

    private void CheckFactories(Machine machine, int key)
    {
        if (!_factories.TryGetValue((machine, key), out List<long>? runs))
        {
            _factories.Add((machine, key), runs = []);
        }

        long since = Math.Max(world.Now - s_factoryWindow, source.ChangesOf(key).Select(LastMoment).DefaultIfEmpty().Max() + TimeSpan.TicksPerSecond);
        runs.RemoveAll(at => at < since);
        runs.Add(world.Now);
        if (runs.Count > MostFactories && scenario.LocalMaxEntries > scenario.Keys && scenario.Shards == 0)
        {
            Break("R9", $"{machine.Name} runs the factory of k{key} {runs.Count} times in {Seconds(world.Now - runs[0])} s, and the key does not change");
        }

        static long LastMoment(SourceChange change) => Math.Max(
            change.BeganAt, Math.Max(change.AcknowledgedAt == long.MaxValue ? 0 : change.AcknowledgedAt, change.VisibleAt == long.MaxValue ? 0 : change.VisibleAt));
    }

    public void OnFailedCall(Machine machine, string call, Exception failure) =>
        Break("R7", $"the {call} on {machine.Name} threw {failure.GetType().Name}: {failure.Message}");

    /// <summary>Notes a change of a key on the server: changes of the source become visible by it.</summary>
    public void OnServerChange(string key, RedisEntry? entry, Place? by, bool tracks, long sentAt)
    {
        // A lease may be renewed for a call that still waits, and is given back when that call ends.
        if (IsQuiet && by is not null && !key.StartsWith(Leases, StringComparison.Ordinal))
        {
            Break("R8", $"{by.Name} changes {key} although no application makes calls");
        }

        if (key.StartsWith(Leases, StringComparison.Ordinal))
        {
            world.History.Add(world, "server", entry is null ? $"has no {key}" : $"has {key}, of {by?.Name}");
            return;
        }

        if (by is null && !tracks)
        {
            return; // Publishers publish their own changes only.
        }

        if (key.StartsWith(Values, StringComparison.Ordinal))
        {
            int number = int.Parse(key[Values.Length..], CultureInfo.InvariantCulture);
            long version = entry is null ? long.MaxValue : VersionOf(entry);
            world.History.Add(world, "server", version == long.MaxValue ? $"has no k{number}" : $"has version {version} of k{number}");
            foreach (SourceChange change in source.ChangesOf(number))
            {
                if (change.Version == version && change.AcknowledgedAt < world.Now)
                {
                    (change.SentLateAt, change.ArrivedLateAt) = (sentAt, world.Now);
                }

                if (change.Way is not (ChangeWay.RemoveByTag or ChangeWay.Clear) && version >= change.Version)
                {
                    change.OnVisible(entry is null ? by : null, world.Now);
                }
            }
        }
        else if ((entry ?? (object?)by) is not null && (key == Era || key.StartsWith(Stamps, StringComparison.Ordinal)))
        {
            // A machine removes a stamp that it has sent late. Without one, nothing with the tag is valid.
            world.History.Add(world, "server", $"has {(entry is null ? "no" : "another")} {(key == Era ? "era" : $"stamp of {key[Stamps.Length..]}")}");
            foreach (SourceChange change in ChangesUnder(key))
            {
                change.OnVisible(by, world.Now);
            }
        }
    }

    // The invalidations of a tag, or those of all keys.
    private IEnumerable<SourceChange> ChangesUnder(string key) => key == Era
        ? Enumerable.Range(0, source.Keys).SelectMany(source.ChangesOf).Where(change => change.Way == ChangeWay.Clear)
        : Enumerable.Range(0, source.Keys).Where(number => Source.TagOf(number) == key[Stamps.Length..]).SelectMany(source.ChangesOf)
            .Where(change => change.Way == ChangeWay.RemoveByTag);

    /// <summary>Notes that a Cluster has lost the last changes of a key that it had acknowledged, and has this entry instead.</summary>
    public void OnLost(string key, RedisEntry? entry)
    {
        world.History.Add(world, "cluster", $"has lost the last changes of {key}");
        if (key.StartsWith(Values, StringComparison.Ordinal) && entry is not null)
        {
            long version = VersionOf(entry);
            foreach (SourceChange change in source.ChangesOf(int.Parse(key[Values.Length..], CultureInfo.InvariantCulture)))
            {
                change.IsLost |= change.Version > version && change.VisibleAt != long.MaxValue;
            }
        }
        else if (key == Era || key.StartsWith(Stamps, StringComparison.Ordinal))
        {
            foreach (SourceChange change in ChangesUnder(key))
            {
                // The lost change may be the removal of a stamp that was written late: it stands for all invalidations of the tag.
                change.IsLost = true;
            }
        }
    }

    /// <summary>Judges the state after the last failure and a time of quiet.</summary>
    /// <param name="machines">All machines.</param>
    /// <param name="serverKeys">The keys that are on the server.</param>
    public void CheckEnd(Machine[] machines, IEnumerable<string> serverKeys)
    {
        if (Array.TrueForAll(machines, machine => machine.OpenCalls.Count == 0)
            && serverKeys.FirstOrDefault(key => key.StartsWith(Leases, StringComparison.Ordinal)) is { } left)
        {
            Break("R6", $"the server still has {left}, and no call needs it");
        }

        foreach (Machine machine in machines)
        {
            world.RunAt(machine, () =>
            {
                if (machine.Cache!.LevelHealth.PendingChanges is > 0 and var pending)
                {
                    Break("R4", $"{machine.Name} has {pending} pending changes");
                }
            });
        }

        for (int key = 0; key < source.Keys; key++)
        {
            SourceChange[] changes = [.. source.ChangesOf(key)];
            SourceChange? lost = changes.FirstOrDefault(change => change.AcknowledgedAt != long.MaxValue && change.VisibleAt == long.MaxValue
                && change.Machine.Life == change.Life && !changes.Any(other => other.Version > change.Version && other.VisibleAt != long.MaxValue));
            if (lost is not null && !changes.Any(other => other.MayWinOver(lost, world.Now, s_bound, s_lateLimit)))
            {
                Break("R4", $"the change of k{key} to version {lost.Version} by {lost.Machine.Name} never reached the server");
            }
        }
    }

    /// <summary>Judges the open calls and the memory of a machine.</summary>
    public void CheckMachine(Machine machine)
    {
        // The oldest comes first.
        if (machine.OpenCalls.First is { Value: var call }
            && world.Now - call.BeganAt - (machine.Stalled - call.StalledBefore) is var taken && taken > s_longestCall)
        {
            Break("R7", $"a call of {machine.Name} has no result after {Seconds(taken)} s");
        }

        foreach (OpenCall open in machine.OpenCalls)
        {
            CheckTime(machine, open);
        }

        CairnCacheStatistics statistics = machine.Cache!.GetStatistics();
        if (statistics.LocalEntries > scenario.LocalMaxEntries)
        {
            Break("R6", $"{machine.Name} has {statistics.LocalEntries} entries in memory, and {scenario.LocalMaxEntries} are allowed");
        }
    }

    // Of two values that were set at the same time, the older one can win. A machine that was cut off then may have created the newer one by itself.
    private bool IsOfSource(Machine machine, int key, long version) => scenario.Faults.Count > 0 && version == source.VersionOf(key) && _created.Contains((machine, key, version));

    private static long VersionOf(RedisEntry entry) => entry.Fields.TryGetValue("data", out byte[]? data) ? Source.VersionIn(data) : -1;

    internal static string Seconds(long ticks) => (ticks / (double)TimeSpan.TicksPerSecond).ToString("0.000000", CultureInfo.InvariantCulture);

    private void Break(string rule, string text)
    {
        if (Finding is null)
        {
            Finding = new Finding(rule, text);
            world.History.Add(world, rule, text);
        }
    }
}
