using Cairn.Caching;
using Cairn.Caching.Registration;
using Cairn.Caching.Stores;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers <see cref="CairnHybridCache"/>.</summary>
public static class CairnHybridCacheServiceCollectionExtensions
{
    /// <summary>Adds a hybrid cache, as <see cref="HybridCache"/> and as <see cref="CairnHybridCache"/>.</summary>
    /// <param name="services">The services to add the cache to.</param>
    /// <param name="configure">A function that sets the options; null for the defaults.</param>
    /// <returns>A builder for serializers.</returns>
    /// <remarks>
    /// The second level is the one in the options, otherwise the registered <see cref="IDistributedCache"/>, otherwise none. The cache is
    /// resolved as <see cref="HybridCache"/> even if another one was registered before.
    /// </remarks>
    public static ICairnHybridCacheBuilder AddCairnHybridCache(
        this IServiceCollection services, Action<CairnHybridCacheOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        return Add(services, Options.Options.DefaultName, configure);
    }

    private static CairnHybridCacheBuilder Add(IServiceCollection services, string name, Action<CairnHybridCacheOptions>? configure)
    {
        Configure(services, name, configure);
        services.AddSingleton(provider => Create(provider, name));
        services.AddSingleton<HybridCache>(provider => provider.GetRequiredService<CairnHybridCache>());
        services.AddSingleton(new RegisteredCache(name, provider => provider.GetRequiredService<CairnHybridCache>()));
        CacheStart.Resolve<CairnHybridCache>(services, name, provider => provider.GetRequiredService<CairnHybridCache>());
        return new CairnHybridCacheBuilder(name, services);
    }

    /// <summary>Adds a hybrid cache with a key. It has a first level of its own, and its key is its name in the second level.</summary>
    /// <param name="services">The services to add the cache to.</param>
    /// <param name="serviceKey">
    /// The key; its text is the name of the options and the default of <see cref="CairnHybridCacheOptions.Name"/>. Null means the cache
    /// without a key, as always in dependency injection.
    /// </param>
    /// <param name="configure">A function that sets the options; null for the defaults.</param>
    /// <returns>A builder for serializers.</returns>
    public static ICairnHybridCacheBuilder AddKeyedCairnHybridCache(
        this IServiceCollection services, object? serviceKey, Action<CairnHybridCacheOptions>? configure = null) =>
        AddKeyedCairnHybridCache(services, serviceKey, serviceKey?.ToString() ?? Options.Options.DefaultName, configure);

    /// <summary>Adds a hybrid cache with a key and named options.</summary>
    /// <param name="services">The services to add the cache to.</param>
    /// <param name="serviceKey">The key; null for the cache without a key.</param>
    /// <param name="optionsName">
    /// The name of the options, and the default of <see cref="CairnHybridCacheOptions.Name"/>: caches with the same options share their
    /// entries in the second level, unless the options set another name.
    /// </param>
    /// <param name="configure">A function that sets more of the options; null for none.</param>
    /// <returns>A builder for serializers.</returns>
    public static ICairnHybridCacheBuilder AddKeyedCairnHybridCache(
        this IServiceCollection services, object? serviceKey, string optionsName, Action<CairnHybridCacheOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(optionsName);
        if (serviceKey is null)
        {
            return Add(services, optionsName, configure);
        }

        string name = optionsName;
        Configure(services, name, configure);
        services.AddKeyedSingleton(serviceKey, (provider, _) => Create(provider, name));
        services.AddKeyedSingleton<HybridCache>(serviceKey, (provider, key) => provider.GetRequiredKeyedService<CairnHybridCache>(key));
        services.AddSingleton(new RegisteredCache(name, provider => provider.GetRequiredKeyedService<CairnHybridCache>(serviceKey)));
        CacheStart.Resolve<CairnHybridCache>(services, name, provider => provider.GetRequiredKeyedService<CairnHybridCache>(serviceKey));
        return new CairnHybridCacheBuilder(name, services);
    }

    /// <summary>Adds the serializer of a type. If there are several, the last one applies.</summary>
    /// <typeparam name="T">The type.</typeparam>
    /// <param name="builder">The builder of the cache. Serializers apply to all hybrid caches of these services.</param>
    /// <param name="serializer">The serializer.</param>
    /// <returns>The same builder.</returns>
    public static ICairnHybridCacheBuilder AddSerializer<T>(this ICairnHybridCacheBuilder builder, IHybridCacheSerializer<T> serializer)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton(serializer);
        return builder;
    }

    /// <summary>Adds the serializer of a type, created by the services. If there are several, the last one applies.</summary>
    /// <typeparam name="T">The type.</typeparam>
    /// <typeparam name="TSerializer">The type of the serializer.</typeparam>
    /// <param name="builder">The builder of the cache. Serializers apply to all hybrid caches of these services.</param>
    /// <returns>The same builder.</returns>
    public static ICairnHybridCacheBuilder AddSerializer<
        T, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] TSerializer>(this ICairnHybridCacheBuilder builder)
        where TSerializer : class, IHybridCacheSerializer<T>
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton<IHybridCacheSerializer<T>, TSerializer>();
        return builder;
    }

    /// <summary>Adds a factory of serializers. If several create one for a type, the last one applies.</summary>
    /// <param name="builder">The builder of the cache. Factories apply to all hybrid caches of these services.</param>
    /// <param name="factory">The factory.</param>
    /// <returns>The same builder.</returns>
    public static ICairnHybridCacheBuilder AddSerializerFactory(this ICairnHybridCacheBuilder builder, IHybridCacheSerializerFactory factory)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton(factory);
        return builder;
    }

    /// <summary>Adds a factory of serializers, created by the services. If several create one for a type, the last one applies.</summary>
    /// <typeparam name="TFactory">The type of the factory.</typeparam>
    /// <param name="builder">The builder of the cache. Factories apply to all hybrid caches of these services.</param>
    /// <returns>The same builder.</returns>
    public static ICairnHybridCacheBuilder AddSerializerFactory<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] TFactory>(this ICairnHybridCacheBuilder builder)
        where TFactory : class, IHybridCacheSerializerFactory
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton<IHybridCacheSerializerFactory, TFactory>();
        return builder;
    }

    private static void Configure(IServiceCollection services, string name, Action<CairnHybridCacheOptions>? configure)
    {
        OptionsBuilder<CairnHybridCacheOptions> options = services.AddOptions<CairnHybridCacheOptions>(name);
        if (name.Length > 0)
        {
            options.Configure(cache => cache.Name = name);
        }

        if (configure is not null)
        {
            options.Configure(configure);
        }
    }

    private static CairnHybridCache Create(IServiceProvider provider, string name) => HybridCacheAssembly.Create(
        provider.GetRequiredService<IOptionsMonitor<CairnHybridCacheOptions>>().Get(name), provider, provider.GetService<ILoggerFactory>());
}
