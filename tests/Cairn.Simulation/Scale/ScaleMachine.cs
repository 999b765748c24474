using System.Globalization;
using System.Net;
using System.Text;
using Cairn.Caching;
using Cairn.Redis;
using Cairn.Simulation.Machines;
using Cairn.Simulation.Network;
using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Scale;

#pragma warning disable CA1001 // A machine ends with its world, as if its power was cut.
/// <summary>A machine with the default settings of the hybrid cache and of the Redis client, except for the lifetime of entries.</summary>
internal sealed class ScaleMachine(World world, VirtualNetwork network, int number, ScaleCase scale, IPEndPoint place, ZipfKeys keys, ScaleSource source)
    : Host(world, network, string.Create(CultureInfo.InvariantCulture, $"m{number}"), SeededRandom.For(ScaleCase.Seed, "machine", number))
#pragma warning restore CA1001
{
    private static readonly string s_padding = new('.', 200);

    private readonly SeededRandom _workload = SeededRandom.For(ScaleCase.Seed, "workload", number);
    private CairnHybridCache? _cache;
    private CairnRedisCache? _redis;

    /// <summary>Gets whether the machine receives changes now.</summary>
    public bool IsReceiving => _redis?.IsReceivingChanges == true;

    public CairnCacheStatistics Statistics => _cache!.GetStatistics();

    public void Start() => World.RunAt(this, () =>
    {
        _redis = new CairnRedisCache(new CairnRedisOptions
        {
            ClientOptions = new RedisClientOptions { EndPoints = [place], ClientName = Name },
            Invalidation = scale.Telling == Telling.Publish ? RedisInvalidationMode.PublishSubscribe : RedisInvalidationMode.Automatic,
        });
        _cache = CairnHybridCache.Create(new CairnHybridCacheOptions
        {
            DistributedCache = _redis,

            // Only changes end an entry.
            DefaultEntryOptions = new CairnEntryOptions { Expiration = TimeSpan.FromDays(1), LocalCacheExpiration = TimeSpan.FromDays(1) },
        });
        PlanNext();
    });

    private void PlanNext() => Schedule(
        TimeSpan.FromMilliseconds(_workload.Between(1, (2 * ScaleCase.CallIntervalMs) - 1)),
        static machine => ((ScaleMachine)machine!).CallAndPlan(),
        this);

    private void CallAndPlan()
    {
        int key = keys.Next(_workload);
        _ = _workload.NextDouble() * 100 >= scale.ChangePercent ? ReadAsync(key) : ChangeAsync(key);
        PlanNext();
    }

    private async Task ReadAsync(int key)
    {
        long beganAt = World.Now;
        string value = await _cache!.GetOrCreateAsync(
            Source.NameOf(key), (Machine: this, key), static (state, token) => state.Machine.CreateAsync(state.key));
        source.OnRead(key, Source.VersionIn(Encoding.ASCII.GetBytes(value)), beganAt, World.Now);
    }

    private async Task ChangeAsync(int key)
    {
        int version = source.Change(key);
        await _cache!.RemoveAsync(Source.NameOf(key));
        source.Acknowledge(key, version, World.Now);
    }

    private async ValueTask<string> CreateAsync(int key)
    {
        source.FactoryRuns++;
        int version = source.VersionOf(key);
        await Task.Delay(TimeSpan.FromMilliseconds(ScaleCase.FactoryMs), MachineClock.Instance);
        return s_padding + Source.ValueOf(key, version);
    }
}
