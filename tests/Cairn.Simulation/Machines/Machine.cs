using System.Globalization;
using System.Net;
using System.Text;
using Cairn.Caching;
using Cairn.Redis;
using Cairn.Simulation.Network;
using Cairn.Simulation.Rules;
using Cairn.Simulation.Scenarios;
using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Machines;

/// <summary>A call without a result: when it began, and for how long the machine was stalled before.</summary>
internal sealed record OpenCall(long BeganAt, long StalledBefore, bool IsChange);

#pragma warning disable CA1001 // A machine ends with its world, as if its power was cut.
/// <summary>A machine with an application: the real hybrid cache over the real Redis client, which it reads and changes at random.</summary>
internal sealed class Machine(World world, VirtualNetwork network, int number, Scenario scenario, Source source, RuleBook rules)
    : Host(world, network, string.Create(CultureInfo.InvariantCulture, $"m{number}"), SeededRandom.For(scenario.Seed, "machine", number))
#pragma warning restore CA1001
{
    private readonly SeededRandom _workload = SeededRandom.For(scenario.Seed, "workload", number);
    private CairnRedisCache? _redis;

    public int Number => number;

    public bool IsRunning { get; private set; }

    public CairnHybridCache? Cache { get; private set; }

    /// <summary>Gets the calls without a result, the oldest first.</summary>
    public LinkedList<OpenCall> OpenCalls { get; } = new();

    /// <summary>Gets or sets whether the application makes calls.</summary>
    public bool IsBusy { get; set; } = true;

    /// <summary>Starts the application.</summary>
    public void Start()
    {
        World.RunAt(this, () =>
        {
            var options = new RedisClientOptions
            {
                EndPoints = scenario.Places,
                OperationTimeout = TimeSpan.FromSeconds(scenario.OperationTimeoutSeconds),
                ConnectTimeout = TimeSpan.FromSeconds(2),
                SilenceLimit = TimeSpan.FromSeconds(5),
                ClientName = Name,
            };
            _redis = new CairnRedisCache(new CairnRedisOptions
            {
                ClientOptions = options,

                // The model of Redis without tracking leaves the choice to the client. Cairn's server tracks always.
                Invalidation = scenario is { IsCairn: true, Tracks: false } ? RedisInvalidationMode.PublishSubscribe : RedisInvalidationMode.Automatic,
            });
            Cache = CairnHybridCache.Create(new CairnHybridCacheOptions
            {
                DistributedCache = _redis,
                LocalMaxEntries = scenario.LocalMaxEntries,
                DistributedMinBreak = TimeSpan.FromMilliseconds(500),
                DistributedMaxBreak = TimeSpan.FromSeconds(3),
                DistributedMaxPendingWrites = scenario.MaxPendingWrites,
                DefaultEntryOptions = new CairnEntryOptions { Expiration = TimeSpan.FromMinutes(10), LocalCacheExpiration = TimeSpan.FromMinutes(10) },
            });
            IsRunning = true;
            OpenCalls.Clear();
            PlanNext();
        });
        World.History.Add(World, Name, "starts");
    }

    public void Crash(bool isSilent)
    {
        World.History.Add(World, Name, isSilent ? "loses power" : "is killed");
        Crash();
        IsRunning = false;
        Cache = null;
        source.Running.RemoveAll(run => run.Machine == this);
        Network.Drop(this, isSilent);
    }

    /// <summary>Makes many calls at once.</summary>
    public void Burst(int calls) => Post(
        _ =>
        {
            for (int i = 0; i < calls; i++)
            {
                Call();
            }
        },
        null);

    /// <summary>Reads a key, and lets the rules judge the result.</summary>
    public void Read(int key, bool isLast = false) => Post(_ => _ = ReadAsync(key, isLast), null);

    private void PlanNext() => Schedule(
        TimeSpan.FromMilliseconds(_workload.Between(1, (2 * scenario.CallIntervalMs) - 1)),
        static machine => ((Machine)machine!).CallAndPlan(),
        this);

    private void CallAndPlan()
    {
        if (IsBusy)
        {
            Call();
        }

        PlanNext();
    }

    private void Call()
    {
        int key = _workload.Below(source.Keys);
        _ = _workload.Below(100) >= scenario.ChangePercent
            ? ReadAsync(key, isLast: false)
            : ChangeAsync(key, scenario.Clears && _workload.Below(8) == 0
                ? _workload.Below(2) == 0 ? ChangeWay.Clear : ChangeWay.Expire
                : _workload.Below(10) switch { 0 => ChangeWay.RemoveByTag, < 5 => ChangeWay.Set, _ => ChangeWay.Remove });
    }

    private async Task ReadAsync(int key, bool isLast)
    {
        ReadCheck check = rules.BeginRead(this, key);
        LinkedListNode<OpenCall> call = OpenCalls.AddLast(new OpenCall(World.Now, Stalled, IsChange: false));
        try
        {
            string value = await Cache!.GetOrCreateAsync(
                Source.NameOf(key), (Machine: this, key), static (state, token) => state.Machine.CreateAsync(state.key), tags: [Source.TagOf(key)]);
            long version = Source.VersionIn(Encoding.ASCII.GetBytes(value));
            World.History.Add(World, Name, string.Create(CultureInfo.InvariantCulture, $"has read version {version} of k{key} since {RuleBook.Seconds(check.BeganAt)}"));
            rules.EndRead(check, version, isLast);
        }
        catch (Exception failure)
        {
            rules.OnFailedCall(this, $"read of k{key}", failure);
        }

        if (call.List is not null)
        {
            OpenCalls.Remove(call);
        }
    }

    private async Task ChangeAsync(int key, ChangeWay way)
    {
        SourceChange[] changes =
        [
            .. Enumerable.Range(0, source.Keys)
                .Where(other => other == key || way == ChangeWay.Clear || (way == ChangeWay.RemoveByTag && Source.TagOf(other) == Source.TagOf(key)))
                .Select(other => source.Change(other, way, this, World.Now)),
        ];
        SourceChange own = changes.Single(change => change.Key == key);
        World.History.Add(World, Name, string.Create(CultureInfo.InvariantCulture, $"changes k{key} to version {own.Version} ({way})"));
        LinkedListNode<OpenCall> call = OpenCalls.AddLast(new OpenCall(World.Now, Stalled, IsChange: true));
        try
        {
            switch (way)
            {
                case ChangeWay.Remove:
                    await Cache!.RemoveAsync(Source.NameOf(key));
                    break;
                case ChangeWay.Set:
                    await Cache!.SetAsync(Source.NameOf(key), Source.ValueOf(key, own.Version), tags: [Source.TagOf(key)]);
                    break;
                case ChangeWay.Expire:
                    await Cache!.ExpireAsync(Source.NameOf(key));
                    break;
                case ChangeWay.Clear:
                    await Cache!.ClearAsync();
                    break;
                default:
                    await Cache!.RemoveByTagAsync(Source.TagOf(key));
                    break;
            }

            foreach (SourceChange change in changes)
            {
                change.AcknowledgedAt = World.Now;
            }

            World.History.Add(World, Name, string.Create(CultureInfo.InvariantCulture, $"k{key} version {own.Version} is acknowledged"));
            rules.CheckTime(this, call.Value);
        }
        catch (Exception failure)
        {
            rules.OnFailedCall(this, $"change of k{key}", failure);
        }

        if (call.List is not null)
        {
            OpenCalls.Remove(call);
        }
    }

    private async ValueTask<string> CreateAsync(int key)
    {
        FactoryRun run = rules.BeginFactory(this, key);
        await Task.Delay(TimeSpan.FromMilliseconds(_workload.Between(0, scenario.FactoryMs)), MachineClock.Instance);
        long version = source.VersionOf(key);
        await Task.Delay(TimeSpan.FromMilliseconds(_workload.Between(0, scenario.FactoryMs)), MachineClock.Instance);
        rules.EndFactory(run, version);
        return Source.ValueOf(key, version);
    }
}
