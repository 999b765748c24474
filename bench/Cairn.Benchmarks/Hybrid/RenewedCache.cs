using Cairn.Caching;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Benchmarks.Hybrid;

// A cache that is created again before each round, by dependency injection as in applications. Microsoft's first level keeps the entries that
// were removed by tag, so a cache that is emptied between the rounds would not grow as Cairn's does.
internal sealed class RenewedCache(string name, Func<ServiceProvider> build) : IDisposable
{
    private ServiceProvider? _services;

    public string Name { get; } = name;

    /// <summary>Microsoft's implementation.</summary>
    /// <param name="secondLevelOf">Returns the second level of the next cache; null for a first level alone.</param>
    public static RenewedCache Microsofts(Func<IDistributedCache>? secondLevelOf = null) =>
        new(HybridCaches.Microsofts, () => HybridCaches.BuildMicrosofts(secondLevelOf?.Invoke()));

    /// <inheritdoc cref="Microsofts"/>
    /// <param name="maxEntries">The capacity of the first level.</param>
    /// <param name="secondLevelOf">Returns the second level of the next cache; null for a first level alone.</param>
    public static RenewedCache Cairns(long maxEntries, Func<IDistributedCache>? secondLevelOf = null) => new("Cairn", () =>
    {
        var services = new ServiceCollection();
        if (secondLevelOf is not null)
        {
            services.AddSingleton(secondLevelOf());
        }

        services.AddCairnHybridCache(options =>
        {
            options.DefaultEntryOptions = new CairnEntryOptions { Expiration = HybridCaches.TimeToLive };
            options.LocalMaxEntries = maxEntries;
            options.LocalMaxBytes = 1L << 30;
        });
        return services.BuildServiceProvider();
    });

    public HybridCache Renew()
    {
        _services?.Dispose();
        _services = build();
        return _services.GetRequiredService<HybridCache>();
    }

    public void Dispose() => _services?.Dispose();
}
