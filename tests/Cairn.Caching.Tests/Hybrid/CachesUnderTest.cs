using Cairn.Caching.Tests.Levels;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>Caches over one second level, one for each node, and a clock that the test moves.</summary>
internal sealed class CachesUnderTest : IAsyncDisposable
{
    public const string None = "none";
    public const string Memory = "memory";
    public const string Store = "store";

    /// <summary>Every call throws.</summary>
    public const string Throwing = "throwing";

    /// <summary>Every call hangs until its time-out.</summary>
    public const string Hanging = "hanging";

    /// <summary>Reads return another key's value.</summary>
    public const string Lying = "lying";

    /// <summary>Reads return half of the value.</summary>
    public const string Tearing = "tearing";

    private static readonly AsyncLocal<bool> s_usesMicrosofts = new();

    private readonly string _kind;
    private readonly StoreDirectory _directory = new();
    private readonly List<CairnHybridCache> _caches = [];
    private readonly List<ServiceProvider> _providers = [];
    private readonly MemoryDistributedCache _memory;

    public CachesUnderTest(string kind)
    {
        _kind = kind;
        _memory = new MemoryDistributedCache(Options.Create(new MemoryDistributedCacheOptions { Clock = new SystemClockOf(Clock) }));
        Fault fault = kind switch
        {
            Throwing => Fault.Throw,
            Hanging => Fault.Hang,
            Lying => Fault.LieWithOtherKey,
            Tearing => Fault.Tear,
            _ => Fault.None,
        };
        bool isReadOnly = kind is Lying or Tearing;
        Faulty.Script = (operation, _) => isReadOnly && operation != "get" ? Fault.None : fault;
    }

    /// <summary>Gets the second levels that work correctly, and none.</summary>
    public static TheoryData<string> Sound => [None, Memory, Store];

    /// <summary>Gets the second levels that work correctly.</summary>
    public static TheoryData<string> Shared => [Memory, Store];

    public static TheoryData<string> All => [None, Memory, Store, Throwing, Hanging, Lying, Tearing];

    public ManualClock Clock { get; } = new(hasTimers: true);

    public FaultyDistributedCache Faulty { get; } = new();

    /// <summary>Gets whether the second level keeps its values. If not, a test can only check that no value is wrong.</summary>
    public bool IsSound => _kind is None or Memory or Store;

    public string FilePath => _directory.FilePath;

    /// <summary>Gets or sets whether <see cref="AddHybrid"/> of the tests that the caller runs creates Microsoft's implementation.</summary>
    public static bool UsesMicrosofts
    {
        get => s_usesMicrosofts.Value;
        set => s_usesMicrosofts.Value = value;
    }

    /// <summary>Creates a cache for a test that is about any implementation of <see cref="HybridCache"/>.</summary>
    public HybridCache AddHybrid()
    {
        if (!UsesMicrosofts)
        {
            return Add();
        }

        var services = new ServiceCollection();
        if (_kind != None)
        {
            services.AddSingleton<IDistributedCache>(Faulty); // Microsoft's implementation uses no MemoryDistributedCache.
        }

        services.AddHybridCache();
        ServiceProvider provider = services.BuildServiceProvider();
        _providers.Add(provider);
        return provider.GetRequiredService<HybridCache>();
    }

    public CairnHybridCache Add(Action<CairnHybridCacheOptions>? configure = null)
    {
        var options = new CairnHybridCacheOptions { TimeProvider = Clock };
        switch (_kind)
        {
            case None:
                break;
            case Memory:
                options.DistributedCache = _memory;
                break;
            case Store:
                options.UseStoreFile(FilePath, file =>
                {
                    file.CapacityBytes = 4 * StoreDirectory.SmallCapacityBytes;
                    file.FlushOnClose = false;
                    file.TimeProvider = Clock;
                });
                break;
            default:
                options.DistributedCache = Faulty;
                break;
        }

        if (_kind == Hanging)
        {
            // Time must pass while calls hang: the system's clock is used, with a short time-out.
            options.TimeProvider = TimeProvider.System;
            options.DistributedReadTimeout = TimeSpan.FromMilliseconds(10);
            options.DistributedWriteTimeout = TimeSpan.FromMilliseconds(10);
        }

        configure?.Invoke(options);
        CairnHybridCache cache = CairnHybridCache.Create(options);
        _caches.Add(cache);
        return cache;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (CairnHybridCache cache in _caches)
        {
            Task end = cache.DisposeAsync().AsTask();
            if (IsSound)
            {
                await end;
            }
            else
            {
                await LevelUnderTest.AdvanceUntilAsync(Clock, () => end.IsCompleted);
                await end;
            }
        }

        _providers.ForEach(provider => provider.Dispose());
        _directory.Dispose();
    }

    // The clock interface that Microsoft's memory cache requires.
    private sealed class SystemClockOf(ManualClock clock) : Microsoft.Extensions.Internal.ISystemClock
    {
        public DateTimeOffset UtcNow => clock.Now;
    }
}
