using Cairn.Caching;
using Cairn.Redis.Tests.Servers;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Redis.Tests.Caching;

/// <summary>After one line of registration, machines have the same values.</summary>
public sealed class RegistrationTests
{
    // A busy machine is not a failed server.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    [RequiresToolFact("redis-server")]
    public async Task Health_check_reports_a_server_that_replies_and_one_that_does_not()
    {
        using var server = RedisServer.Start();
        await using ServiceProvider well = Checked(server.Configuration);
        await using ServiceProvider ill = Checked("127.0.0.1:1,connectTimeout=100");

        HealthReport good = await well.GetRequiredService<HealthCheckService>().CheckHealthAsync();
        HealthReport bad = await ill.GetRequiredService<HealthCheckService>().CheckHealthAsync();

        Assert.Equal(HealthStatus.Healthy, good.Status);
        Assert.True((double)good.Entries["cairn_redis"].Data["pingMs"] >= 0);
        Assert.Equal(HealthStatus.Degraded, bad.Status);
        Assert.Contains("127.0.0.1:1", bad.Entries["cairn_redis"].Description, StringComparison.Ordinal);

        static ServiceProvider Checked(string configuration)
        {
            var services = new ServiceCollection();
            services.AddSingleton(typeof(ILogger<>), typeof(NullLogger<>));
            services.AddCairnRedis(o => o.Configuration = configuration);
            services.AddHealthChecks().AddCairnRedis();
            return services.BuildServiceProvider();
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task Hybrid_caches_of_two_hosts_over_redis_agree()
    {
        using var server = RedisServer.Start();
        await using ServiceProvider first = Host(services => services.AddCairnRedis(o => o.Configuration = server.Configuration));
        await using ServiceProvider second = Host(services => services.AddCairnRedis(o => o.Configuration = server.Configuration));

        await AssertAgreementAsync(first, second);

        Assert.IsType<CairnRedisCache>(first.GetRequiredService<IDistributedCache>());
        Assert.Same(first.GetRequiredService<IDistributedCache>(), first.GetRequiredService<IBufferDistributedCache>());
    }

    [RequiresToolFact("redis-server", "memcached")]
    public async Task Channel_over_redis_makes_hybrid_caches_over_another_cache_agree()
    {
        using var server = RedisServer.Start();
        using var memcached = MemcachedProcess.Start();
        await using ServiceProvider first = Host(Configure);
        await using ServiceProvider second = Host(Configure);

        await AssertAgreementAsync(first, second);

        void Configure(IServiceCollection services)
        {
            services.AddCairnMemcached(o =>
            {
                o.Servers.Add(memcached.Address);
                o.ConnectTimeout = o.OperationTimeout = s_patience;
            });
            services.AddCairnRedisInvalidation(o => o.Configuration = server.Configuration);
        }
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(RedisInvalidationMode.Automatic)]
    [InlineData(RedisInvalidationMode.PublishSubscribe)]
    public async Task User_with_the_rights_that_the_guide_names_is_enough(RedisInvalidationMode mode)
    {
        string guide = await File.ReadAllTextAsync(RepositoryFile.At("docs", "how-to", "redis.md"));
        int start = guide.IndexOf("`~bookshop:*", StringComparison.Ordinal) + 1;
        string rights = guide[start..guide.IndexOf('`', start)];
        using var server = RedisServer.Start(
            ["--user", "bookshop", "on", ">secret", "-@all", .. rights.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)]);
        await using ServiceProvider first = Host(Configure);
        await using ServiceProvider second = Host(Configure);

        await AssertAgreementAsync(first, second);

        void Configure(IServiceCollection services) => services.AddCairnRedis(o =>
        {
            o.Configuration = $"{server.Configuration},user=bookshop,password=secret";
            o.InstanceName = "bookshop:";
            o.Invalidation = mode;
        });
    }

    [RequiresGarnetFact]
    public async Task Hybrid_caches_of_two_hosts_over_Garnet_agree()
    {
        using var server = GarnetServer.Start();
        await using ServiceProvider first = Host(services => services.AddCairnRedis(o => o.Configuration = server.Configuration));
        await using ServiceProvider second = Host(services => services.AddCairnRedis(o => o.Configuration = server.Configuration + ",protocol=resp2"));

        await AssertAgreementAsync(first, second);

        foreach (ServiceProvider host in new[] { first, second })
        {
            await Eventually.TrueAsync(
                () => ((CairnRedisCache)host.GetRequiredService<IDistributedCache>()).IsReceivingChanges, "that the host receives changes");
        }
    }

    [Fact]
    public void Options_without_a_server_say_what_is_missing()
    {
        using ServiceProvider host = Host(services => services.AddCairnRedis(_ => { }));

        var error = Assert.Throws<InvalidOperationException>(() => host.GetRequiredService<IDistributedCache>());

        Assert.Contains(nameof(CairnRedisOptions.Configuration), error.Message, StringComparison.Ordinal);
    }

    private static ServiceProvider Host(Action<IServiceCollection> configure)
    {
        var services = new ServiceCollection();
        configure(services);
        services.AddCairnHybridCache(o => o.DistributedReadTimeout = o.DistributedWriteTimeout = s_patience);
        return services.BuildServiceProvider();
    }

    // When one host removes a value that both hold in memory, the other host loses it soon.
    private static async Task AssertAgreementAsync(ServiceProvider first, ServiceProvider second)
    {
        var one = first.GetRequiredService<HybridCache>();
        var two = second.GetRequiredService<HybridCache>();

        // A write in progress when the channel begins becomes a removal, because another machine may have changed the key before.
        await Eventually.TrueAsync(
            async () =>
            {
                await one.SetAsync("book", "Dune");
                return await two.GetOrCreateAsync("book", _ => ValueTask.FromResult("Emma")) == "Dune";
            },
            "the value of the other host");

        await one.RemoveAsync("book");

        await Eventually.TrueAsync(
            async () => await two.GetOrCreateAsync("book", _ => ValueTask.FromResult("Emma")) == "Emma", "the removal by the other host");
        await Eventually.TrueAsync(
            async () => await one.GetOrCreateAsync("book", _ => ValueTask.FromResult("Persuasion")) == "Emma", "the new value of the other host");
    }
}
