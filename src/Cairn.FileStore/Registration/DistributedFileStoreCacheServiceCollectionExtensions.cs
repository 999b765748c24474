using Cairn.FileStore;
using Cairn.FileStore.Adapters;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Extension methods that register a cache in a JSON file.</summary>
public static class DistributedFileStoreCacheServiceCollectionExtensions
{
    /// <summary>Adds a cache file as a singleton of the interface that the options select.</summary>
    /// <param name="services">The service collection.</param>
    /// <param name="optionsAction">Sets the options; null for the defaults.</param>
    /// <param name="environment">
    /// The environment, which provides the directory and the second part of the file name unless the options do.
    /// </param>
    /// <returns>The options in use.</returns>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    /// <exception cref="DistributedFileStoreCacheException">
    /// Neither the options nor the environment specify the location of the file.
    /// </exception>
    /// <remarks>The file is opened when the cache is first resolved, and closed with the service provider.</remarks>
    public static DistributedFileStoreCacheOptions AddDistributedFileStoreCache(
        this IServiceCollection services, Action<DistributedFileStoreCacheOptions>? optionsAction = null, IHostEnvironment? environment = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        DistributedFileStoreCacheOptions options = CreateOptions(optionsAction, environment);
        switch (options.WhichVersion)
        {
            case FileStoreCacheVersions.Class:
                services.AddSingleton(provider => CreateClass(provider, options));
                break;
            case FileStoreCacheVersions.Bytes:
                services.AddSingleton(provider => CreateBytes(provider, options));
                break;
            case FileStoreCacheVersions.IDistributedCache:
                services.AddSingleton<IDistributedCache>(_ => new DistributedFileStoreCacheBytes(options));
                break;
            default:
                services.AddSingleton(provider => CreateString(provider, options));
                break;
        }

        return options;
    }

    /// <summary>Adds one of several cache files as a keyed singleton of the interface that the options select.</summary>
    /// <param name="services">The service collection.</param>
    /// <param name="serviceKey">The key of the service. The files must differ in their directory or in a part of their name.</param>
    /// <param name="optionsAction">Sets the options; null for the defaults.</param>
    /// <param name="environment">
    /// The environment, which provides the directory and the second part of the file name unless the options do.
    /// </param>
    /// <returns>The options in use.</returns>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    /// <exception cref="DistributedFileStoreCacheException">
    /// Neither the options nor the environment specify the location of the file.
    /// </exception>
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
                services.AddKeyedSingleton(serviceKey, (provider, _) => CreateClass(provider, options));
                break;
            case FileStoreCacheVersions.Bytes:
                services.AddKeyedSingleton(serviceKey, (provider, _) => CreateBytes(provider, options));
                break;
            case FileStoreCacheVersions.IDistributedCache:
                services.AddKeyedSingleton<IDistributedCache>(serviceKey, (_, _) => new DistributedFileStoreCacheBytes(options));
                break;
            default:
                services.AddKeyedSingleton(serviceKey, (provider, _) => CreateString(provider, options));
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

        // Validates the options now, so that an error appears when the application starts.
        if (options.DistributedCache is null)
        {
            _ = options.ToEngineOptions();
        }
        else if (options.WhichVersion == FileStoreCacheVersions.IDistributedCache)
        {
            throw new ArgumentException(
                $"With {nameof(DistributedFileStoreCacheOptions)}.{nameof(DistributedFileStoreCacheOptions.DistributedCache)} there is an IDistributedCache already; " +
                "leave AddDistributedFileStoreCache out, or choose another WhichVersion.");
        }

        return options;
    }

    private static IDistributedFileStoreCacheString CreateString(IServiceProvider provider, DistributedFileStoreCacheOptions options)
    {
        SetLog(provider, options);
        return options.DistributedCache is { } find ? new DistributedStringAdapter(find(provider), options) : new DistributedFileStoreCacheString(options);
    }

    private static IDistributedFileStoreCacheClass CreateClass(IServiceProvider provider, DistributedFileStoreCacheOptions options)
    {
        SetLog(provider, options);
        return options.DistributedCache is { } find ? new DistributedStringAdapter(find(provider), options) : new DistributedFileStoreCacheClass(options);
    }

    private static IDistributedFileStoreCacheBytes CreateBytes(IServiceProvider provider, DistributedFileStoreCacheOptions options) =>
        options.DistributedCache is { } find ? new DistributedBytesAdapter(find(provider)) : new DistributedFileStoreCacheBytes(options);

    private static void SetLog(IServiceProvider provider, DistributedFileStoreCacheOptions options) =>
        options.Log = provider.GetService<ILoggerFactory>()?.CreateLogger("Cairn.FileStore");
}
