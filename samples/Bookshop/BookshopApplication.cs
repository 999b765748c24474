using Bookshop.Authors;
using Bookshop.Books;
using Bookshop.Catalogue;
using Bookshop.Invalidation;
using Bookshop.Operation;
using Bookshop.Reading;
using Bookshop.Settings;
using Cairn.Caching;
using Microsoft.EntityFrameworkCore;
using Npgsql;

namespace Bookshop;

/// <summary>Creates the API: registers the services that the configuration selects, and maps the endpoints.</summary>
internal static class BookshopApplication
{
    // The whole catalogue fits.
    private const int LocalMaxEntries = 200_000;
    private const long LocalMaxBytes = 256L << 20;
    private const int AverageEntryBytes = 1_024;

    /// <exception cref="BookshopSetupException">A setting is missing or wrong.</exception>
    public static WebApplication Create(string[] args)
    {
        var builder = WebApplication.CreateBuilder(new WebApplicationOptions { Args = args, ContentRootPath = AppContext.BaseDirectory });
        var options = BookshopOptions.From(builder.Configuration);
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.AddServerHeader = false);

        var services = builder.Services;
        services.AddSingleton(options);
        AddDatabase(services, options);
        AddReadPath(services, options);
        services.AddSettings(options, builder.Environment);
        AddWeb(services);
        services.AddHostedService<Telemetry>();

        var application = builder.Build();
        Map(application, options);
        return application;
    }

    private static void AddDatabase(IServiceCollection services, BookshopOptions options)
    {
        services.AddSingleton(provider =>
            new NpgsqlDataSourceBuilder(options.ConnectionString).UseLoggerFactory(provider.GetRequiredService<ILoggerFactory>()).Build());

        // One registration provides a context for each request that changes something, and a factory for the readers.
        services.AddDbContextFactory<CatalogueContext>((provider, context) => context.UseNpgsql(provider.GetRequiredService<NpgsqlDataSource>()));
        services.AddHostedService<CatalogueSetup>();
        services.AddHealthChecks().AddCheck<DatabaseHealthCheck>("database");
    }

    private static void AddReadPath(IServiceCollection services, BookshopOptions options)
    {
        services.AddSingleton<DapperReader>();
        switch (options.ReadPath)
        {
            case ReadPath.EntityFramework or ReadPath.EntityFrameworkNoTracking:
                services.AddSingleton<IBookReader>(provider => new EntityFrameworkReader(
                    provider.GetRequiredService<IDbContextFactory<CatalogueContext>>(), isTracking: options.ReadPath is ReadPath.EntityFramework));
                break;
            case ReadPath.Dapper:
                services.AddSingleton<IBookReader>(provider => provider.GetRequiredService<DapperReader>());
                break;
            case ReadPath.OutputCache:
                services.AddSingleton<IBookReader>(provider => provider.GetRequiredService<DapperReader>());
                services.AddSingleton<ICatalogueInvalidation, ResponseInvalidation>();
                AddHybridCache(services, options).AddHybridOutput();
                break;
            case ReadPath.OutputCacheMiddleware:
                services.AddSingleton<IBookReader>(provider => provider.GetRequiredService<DapperReader>());
                services.AddSingleton<ICatalogueInvalidation, MiddlewareInvalidation>();
                services.AddCairnOutputCache(store =>
                {
                    store.Path = options.StoreFile;
                    store.AverageEntryBytes = AverageEntryBytes;
                });
                break;
            default:
                services.AddSingleton<IBookReader>(provider =>
                    new HybridReader(provider.GetRequiredService<CairnHybridCache>(), provider.GetRequiredService<DapperReader>()));
                services.AddSingleton<ICatalogueInvalidation, HybridInvalidation>();
                AddHybridCache(services, options);
                break;
        }

        if (options.ReadPath.IsCached())
        {
            services.AddSingleton<DatabaseListener>();
            services.AddHostedService(provider => provider.GetRequiredService<DatabaseListener>());
            services.AddHealthChecks().AddCheck<ListenerHealthCheck>("changes");
        }
        else
        {
            services.AddSingleton<ICatalogueInvalidation, NoInvalidation>();
        }
    }

    private static ICairnHybridCacheBuilder AddHybridCache(IServiceCollection services, BookshopOptions options)
    {
        if (options.ReadPath is ReadPath.HybridRedis)
        {
            services.AddCairnRedis(redis =>
            {
                redis.Configuration = options.Redis;
                redis.InstanceName = "bookshop:";
            });
            services.AddHealthChecks().AddCairnRedis();
        }

        services.AddHealthChecks().AddCairnHybridCache();
        return services.AddCairnHybridCache(cache =>
        {
            cache.DefaultEntryOptions = new CairnEntryOptions { Expiration = options.CacheFor };
            cache.DistributedReadTimeout = options.SecondLevelTimeout;
            cache.LocalMaxEntries = LocalMaxEntries;
            cache.LocalMaxBytes = LocalMaxBytes;
            cache.JsonResolvers.Add(BookshopJson.Default);
            if (options.ReadPath is ReadPath.HybridStore or ReadPath.OutputCache)
            {
                cache.UseStoreFile(options.StoreFile, store => store.AverageEntryBytes = AverageEntryBytes);
            }
        });
    }

    private static void AddWeb(IServiceCollection services)
    {
        services.ConfigureHttpJsonOptions(json =>
        {
            json.SerializerOptions.TypeInfoResolverChain.Insert(0, BookshopJson.Default);

            // A null in place of a text is the client's mistake. The database must not see it.
            json.SerializerOptions.RespectNullableAnnotations = true;
        });
        services.AddProblemDetails();
        services.AddValidation();
        services.AddOpenApi();
    }

    private static void Map(WebApplication application, BookshopOptions options)
    {
        if (options.ReadPath is ReadPath.OutputCache)
        {
            // The first middleware, so that a cached response needs no other one.
            application.UseCairnHybridOutput();
        }

        application.UseExceptionHandler();
        application.UseStatusCodePages();
        application.UseRouting();
        if (options.ReadPath is ReadPath.OutputCacheMiddleware)
        {
            application.UseOutputCache();
        }

        application.MapBooks(options, application.Services.GetRequiredService<IBookReader>());
        application.MapAuthors();
        application.MapSettings();

        // The benchmark reads this book to find the lower bound of the cost.
        var constant = BookDetails.Of(ExampleBook());
        application.MapGet("/api/constant", () => constant).WithTags("Operation").WithSummary("Always the same book");

        var cache = application.Services.GetService<CairnHybridCache>();
        application.MapGet("/statistics", () => BookshopStatistics.Now(options.ReadPath, cache)).WithTags("Operation").WithSummary("What this process did");
        if (cache is not null)
        {
            // The dashboard answers only browsers on this machine. An application that knows its users adds RequireAuthorization.
            application.MapCairnDashboard("/cairn").ExcludeFromDescription();
        }

        application.MapHealthChecks("/health");
        application.MapOpenApi();
    }

    private static Book ExampleBook()
    {
        var book = new CatalogueGenerator(authors: 1).Book(1);
        book.Author = CatalogueGenerator.Author(1);
        return book;
    }
}
