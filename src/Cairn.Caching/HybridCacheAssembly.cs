using System.Diagnostics.Metrics;
using Cairn.Caching.Levels;
using Cairn.Caching.Registration;
using Cairn.Caching.Serialization;
using Cairn.Caching.Stores;
using Cairn.Caching.Telemetry;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Caching;

/// <summary>Creates a hybrid cache from its options, with its second level and its serializers.</summary>
internal static class HybridCacheAssembly
{
    public static CairnHybridCache Create(CairnHybridCacheOptions options, IServiceProvider? services, ILoggerFactory? loggers)
    {
        options.UseTimeProvider(services?.GetService<TimeProvider>());
        options.Validate();
        ILogger logger = (ILogger?)loggers?.CreateLogger<CairnHybridCache>() ?? NullLogger.Instance;
        SecondLevel level = LevelOf(options, services, logger);
        try
        {
            return new CairnHybridCache(options, level, new Codecs(CodecsOf(options, services, logger)), logger, services?.GetService<IMeterFactory>());
        }
        catch
        {
            level.DisposeAsync().AsTask().GetAwaiter().GetResult();
            throw;
        }
    }

    private static StoreLevel LevelOn(StoreHandle handle, string name, ILogger logger)
    {
        var level = new StoreLevel(handle, name);
        handle.LogFailures(logger);
        return level;
    }

    // Returns the second level that the options name, or the registered one, or none.
    private static SecondLevel LevelOf(CairnHybridCacheOptions options, IServiceProvider? services, ILogger logger)
    {
        if (!options.UseSecondLevel)
        {
            return new NoLevel();
        }

        if (options.StoreFile is { } file)
        {
            return LevelOn(file.OpenStore(), options.Name, logger);
        }

        IDistributedCache? cache = options.DistributedCache ?? RegisteredCache(options, services);
        return cache switch
        {
            null => new NoLevel(),

            // Uses the store itself instead of the IDistributedCache, so that changes reach every process at once.
            CairnDistributedCache cairn => LevelOn(StoreHandle.Borrow(cairn.OpenStore), options.Name, logger),
            _ => new DistributedLevel(
                cache,
                services?.GetService<ICacheLeases>(),
                services?.GetService<ICacheInvalidation>(),
                new DistributedLevelOptions
                {
                    Name = options.Name,
                    ReadTimeout = options.DistributedReadTimeout,
                    WriteTimeout = options.DistributedWriteTimeout,
                    BreakAfterFailures = options.DistributedBreakAfterFailures,
                    MinBreak = options.DistributedMinBreak,
                    MaxBreak = options.DistributedMaxBreak,
                    MaxPendingWrites = options.DistributedMaxPendingWrites,
                    MaxPendingBytes = options.DistributedMaxPendingBytes,
                    Clock = options.TimeProvider,
                },
                logger),
        };
    }

    private static IDistributedCache? RegisteredCache(CairnHybridCacheOptions options, IServiceProvider? services)
    {
        if (options.DistributedCacheServiceKey is not { } key)
        {
            return services?.GetService<IDistributedCache>();
        }

        return services?.GetKeyedService<IDistributedCache>(key) ?? throw new InvalidOperationException(
            $"{nameof(CairnHybridCacheOptions.DistributedCacheServiceKey)} is '{key}', and no {nameof(IDistributedCache)} is registered with this key.");
    }

    private static CodecOptions CodecsOf(CairnHybridCacheOptions options, IServiceProvider? services, ILogger logger) => new()
    {
        Services = services,
        Json = options.JsonOptions,
        JsonResolvers = [.. options.JsonResolvers],
        Formats = new Dictionary<Type, CairnFormat>(options.Formats),
        OnJsonInsteadOfXml = type => CacheLog.JsonInsteadOfXml(logger, type),
        ShareAllTypes = options.ShareLocalValues,
        ShareableTypes = new HashSet<Type>(options.ShareableTypes),
        MaximumPayloadBytes = (int)Math.Min(options.MaximumPayloadBytes, Array.MaxLength),
        DisableCompression = options.DisableCompression,
        CompressionThresholdBytes = options.CompressionThresholdBytes,
        CompressionQuality = options.CompressionQuality,
    };
}
