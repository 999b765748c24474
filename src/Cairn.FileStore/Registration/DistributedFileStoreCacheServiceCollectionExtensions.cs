using Cairn.FileStore;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Hosting;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers a cache in a JSON file.</summary>
public static class DistributedFileStoreCacheServiceCollectionExtensions
{
    /// <summary>Adds one cache file: a singleton of the version that the options ask for.</summary>
    /// <param name="services">Where to.</param>
    /// <param name="optionsAction">Sets the options; null for the defaults.</param>
    /// <param name="environment">Gives the file's directory and the second part of its name, where the options do not.</param>
    /// <returns>The options, as they are used.</returns>
    /// <exception cref="ArgumentException">An option is out of its range.</exception>
    /// <exception cref="DistributedFileStoreCacheException">Neither the options nor the environment say where the file is.</exception>
    /// <remarks>The file is opened when the cache is first resolved, and closed with the services.</remarks>
    public static DistributedFileStoreCacheOptions AddDistributedFileStoreCache(
        this IServiceCollection services, Action<DistributedFileStoreCacheOptions>? optionsAction = null, IHostEnvironment? environment = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        DistributedFileStoreCacheOptions options = CreateOptions(optionsAction, environment);
        switch (options.WhichVersion)
        {
            case FileStoreCacheVersions.Class:
                services.AddSingleton<IDistributedFileStoreCacheClass>(_ => new DistributedFileStoreCacheClass(options));
                break;
            case FileStoreCacheVersions.Bytes:
                services.AddSingleton<IDistributedFileStoreCacheBytes>(_ => new DistributedFileStoreCacheBytes(options));
                break;
            case FileStoreCacheVersions.IDistributedCache:
                services.AddSingleton<IDistributedCache>(_ => new DistributedFileStoreCacheBytes(options));
                break;
            default:
                services.AddSingleton<IDistributedFileStoreCacheString>(_ => new DistributedFileStoreCacheString(options));
                break;
        }

        return options;
    }

    /// <summary>Adds one of several cache files: a keyed singleton of the version that the options ask for.</summary>
    /// <param name="services">Where to.</param>
    /// <param name="serviceKey">The key to resolve it by. The files must differ: in directory, or in a part of the name.</param>
    /// <param name="optionsAction">Sets the options; null for the defaults.</param>
    /// <param name="environment">Gives the file's directory and the second part of its name, where the options do not.</param>
    /// <returns>The options, as they are used.</returns>
    /// <exception cref="ArgumentException">An option is out of its range.</exception>
    /// <exception cref="DistributedFileStoreCacheException">Neither the options nor the environment say where the file is.</exception>
    public static DistributedFileStoreCacheOptions AddKeyedDistributedFileStoreCache(
        this IServiceCollection services,
        object serviceKey,
        Action<DistributedFileStoreCacheOptions>? optionsAction = null,
        IHostEnvironment? environment = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(serviceKey);
        DistributedFileStoreCacheOptions options = CreateOptions(optionsAction, environment);
        switch (options.WhichVersion)
        {
            case FileStoreCacheVersions.Class:
                services.AddKeyedSingleton<IDistributedFileStoreCacheClass>(serviceKey, (_, _) => new DistributedFileStoreCacheClass(options));
                break;
            case FileStoreCacheVersions.Bytes:
                services.AddKeyedSingleton<IDistributedFileStoreCacheBytes>(serviceKey, (_, _) => new DistributedFileStoreCacheBytes(options));
                break;
            case FileStoreCacheVersions.IDistributedCache:
                services.AddKeyedSingleton<IDistributedCache>(serviceKey, (_, _) => new DistributedFileStoreCacheBytes(options));
                break;
            default:
                services.AddKeyedSingleton<IDistributedFileStoreCacheString>(serviceKey, (_, _) => new DistributedFileStoreCacheString(options));
                break;
        }

        return options;
    }

    private static DistributedFileStoreCacheOptions CreateOptions(Action<DistributedFileStoreCacheOptions>? optionsAction, IHostEnvironment? environment)
    {
        var options = new DistributedFileStoreCacheOptions();
        optionsAction?.Invoke(options);
        options.PathToCacheFileDirectory ??= environment?.ContentRootPath;
        options.SecondPartOfCacheFileName ??= environment?.EnvironmentName;
        _ = options.ToEngineOptions(); // A mistake shows when the application starts.
        return options;
    }
}
