using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using System.Text.Json.Serialization;
using Cairn.Caching;
using Cairn.Caching.AspNetCore;
using Cairn.FileStore;
using Cairn.Memcached;
using Cairn.Redis;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.OutputCaching;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using StackExchange.Redis;

namespace Cairn.DocumentTests.Samples;

/// <summary>
/// Lines that register services in the builder of an application. The tests then use these services. Where a line names a server or a folder that
/// this machine does not have, only the registration runs.
/// </summary>
public sealed class RegistrationSamples : SampleTest
{
    private readonly WebApplicationBuilder builder = WebApplication.CreateBuilder();

    [Fact]
    public async Task Objects_in_the_process()
    {
        builder.Services.AddCairnHybridCache();

        await ReadThroughAsync();
    }

    [Fact]
    public async Task Books_of_the_readme_are_loaded_once()
    {
        Environment.SetEnvironmentVariable("XDG_DATA_HOME", Directory.GetCurrentDirectory());
        var database = new Database();

        builder.Services.AddCairnHybridCache(o => o.UseStoreFile());

        await using var application = builder.Build();
        var books = new ReadmeOfCaching.Books(application.Services.GetRequiredService<HybridCache>(), database);
        Assert.Equal("Dune", (await books.FindAsync(42)).Title);
        Assert.Equal("Dune", (await books.FindAsync(42)).Title);
        Assert.Equal(1, database.Queries);
    }

    [Fact]
    public async Task Book_that_was_changed_is_never_read_as_it_was()
    {
        builder.Services.AddCairnHybridCache();
        await using var application = builder.Build();
        var books = new HybridTutorial.Books(application.Services.GetRequiredService<HybridCache>(), new HybridTutorial.Database());
        await books.FindAsync(42, CancellationToken.None);

        await books.ChangeAsync(new HybridTutorial.Book(42, "Dune Messiah"));

        Assert.Equal("Dune Messiah", (await books.FindAsync(42, CancellationToken.None)).Title);
    }

    [Fact]
    public async Task When_the_source_fails()
    {
        Environment.SetEnvironmentVariable("XDG_DATA_HOME", Directory.GetCurrentDirectory());

        builder.Services.AddCairnHybridCache(o =>
        {
            o.UseStoreFile();
            o.DefaultEntryOptions = new CairnEntryOptions
            {
                Expiration = TimeSpan.FromMinutes(5),
                FailSafe = TimeSpan.FromHours(2),
                FactorySoftTimeout = TimeSpan.FromMilliseconds(100),
                EagerRefreshThreshold = 0.8,
                Jitter = TimeSpan.FromSeconds(20),
            };
        });

        await ReadThroughAsync();
    }

    [Fact]
    public void Several_machines()
    {
        builder.Services.AddCairnRedis(o => o.Configuration = "cache.internal");
        builder.Services.AddCairnHybridCache();

        Assert.True(Has<CairnRedisCache>() && Has<HybridCache>());
    }

    [Fact]
    public void Redis_with_a_password_and_a_prefix()
    {
        builder.Services.AddCairnRedis(o =>
        {
            o.Configuration = "redis.internal:6379,user=bookshop,password=…,ssl=true";
            o.InstanceName = "bookshop:";
        });
        builder.Services.AddCairnHybridCache();

        Assert.True(Has<CairnRedisCache>());
    }

    [Fact]
    public void Redis_over_the_applications_multiplexer()
    {
        builder.Services.AddSingleton<IConnectionMultiplexer>(_ => ConnectionMultiplexer.Connect("redis.internal:6379,ssl=true"));
        builder.Services.AddCairnRedis(services => services.GetRequiredService<IConnectionMultiplexer>(), o => o.InstanceName = "bookshop:");
        builder.Services.AddCairnHybridCache();

        Assert.True(Has<CairnRedisCache>());
    }

    [Fact]
    public void Redis_over_a_multiplexer_of_the_package()
    {
        builder.Services.AddSingleton<IConnectionMultiplexer>(_ => ConnectionMultiplexer.Connect("redis.internal:6379"));
        builder.Services.AddCairnRedis(services => services.GetRequiredService<IConnectionMultiplexer>(), o => o.InstanceName = "bookshop:");
        builder.Services.AddCairnHybridCache();

        Assert.True(Has<CairnRedisCache>());
    }

    [Fact]
    public void Redis_over_a_multiplexer_that_connects_asynchronously()
    {
        builder.Services.AddCairnRedis(async _ => await ConnectionMultiplexer.ConnectAsync("redis.internal:6379,ssl=true"), o => o.InstanceName = "bookshop:");

        Assert.True(Has<CairnRedisCache>());
    }

    [Fact]
    public void Messages_over_the_applications_multiplexer()
    {
        builder.Services.AddCairnRedisInvalidation(services => services.GetRequiredService<IConnectionMultiplexer>(), o => o.InstanceName = "bookshop:");

        Assert.True(Has<RedisChangeChannel>());
    }

    [Fact]
    public void Redis_with_values_that_other_programs_read()
    {
        builder.Services.AddCairnRedis(o =>
        {
            o.Configuration = "redis.internal:6379";
            o.InstanceName = "bookshop:";
            o.PlainValues = true;
        });
        builder.Services.AddCairnHybridCache();

        Assert.True(Has<CairnRedisCache>());
    }

    [Fact]
    public void Memcached_of_the_package()
    {
        builder.Services.AddCairnMemcached("cache-1:11211", "cache-2:11211", "cache-3:11211");
        builder.Services.AddCairnHybridCache();

        Assert.True(Has<CairnMemcachedCache>() && Has<HybridCache>());
    }

    [Fact]
    public void Redis_of_the_package()
    {
        builder.Services.AddCairnRedis(o =>
        {
            o.Configuration = "redis.internal:6379";
            o.InstanceName = "bookshop:";
        });
        builder.Services.AddCairnHybridCache();

        Assert.True(Has<CairnRedisCache>());
    }

    [Fact]
    public void Store_file_in_a_folder_of_the_application()
    {
        builder.Services.AddCairnHybridCache(o => o.UseStoreFile("/var/lib/bookshop/cache.cairn"));

        Assert.True(Has<HybridCache>());
    }

    [Fact]
    public void Distributed_cache_in_a_folder_of_the_application()
    {
        builder.Services.AddCairnDistributedCache(o => o.Path = "/var/lib/bookshop/cache.cairn");

        Assert.True(Has<IDistributedCache>());
    }

    [Fact]
    public async Task Covers_are_kept()
    {
        builder.Services.AddCairnDistributedCache(o => o.Path = "covers.cairn");
        await using var application = builder.Build();
        var covers = new Covers(application.Services.GetRequiredService<IDistributedCache>());

        covers.Keep("978-0441172719", [1, 2]);

        Assert.Equal([1, 2], covers.Find("978-0441172719"));
    }

    [Fact]
    public async Task Output_cache()
    {
        builder.Services.AddSingleton<Database>();

        builder.Services.AddCairnOutputCache(o => o.Path = "/var/lib/bookshop/cache.cairn");

        var app = builder.Build();
        app.UseOutputCache();

        app.MapGet("/books/{id}", FindBook).CacheOutput(policy => policy.Expire(TimeSpan.FromMinutes(10)).Tag("books"));
        app.MapPost("/books", async (Book book, Database database, IOutputCacheStore cache, CancellationToken cancellation) =>
        {
            await database.AddAsync(book, cancellation);
            await cache.EvictByTagAsync("books", cancellation);
        });

        Assert.Equal(2, ((IEndpointRouteBuilder)app).DataSources.Single().Endpoints.Count);
        await app.DisposeAsync();

        static IResult FindBook(int id) => Results.Ok(id);
    }

    [Fact]
    public async Task Hybrid_output()
    {
        builder.Services.AddCairnHybridCache(cache => cache.UseStoreFile("cache.cairn")).AddHybridOutput();

        var app = builder.Build();
        app.UseCairnHybridOutput(); // Answers cached requests before all other middleware.
        app.UseRouting();

        app.MapGet("/books/{id:int}", (int id, HttpContext context) =>
        {
            context.Features.Get<ICairnHybridOutputFeature>()?.AddTag($"book:{id}");
            return Results.Ok(new Book(id, "Dune", 9.99m));
        }).CacheOutputInCairnHybrid(output =>
        {
            output.Expiration = TimeSpan.FromMinutes(10);
            output.VaryByHost = false; // The response does not depend on the host name of the request.
            output.Tags.Add("books");
        });

        app.MapDelete("/books/{id:int}", (int id, CairnHybridCache cache) => cache.RemoveByTagAsync($"book:{id}"));

        Assert.Equal(2, ((IEndpointRouteBuilder)app).DataSources.Single().Endpoints.Count);
        await app.DisposeAsync();
    }

    [Fact]
    public async Task Hybrid_output_of_the_package()
    {
        builder.Services.AddCairnHybridCache(o => o.UseStoreFile("responses.cairn")).AddHybridOutput();

        var app = builder.Build();
        app.UseCairnHybridOutput();
        app.UseRouting();

        app.MapGet("/books/{id}", FindBook).CacheOutputInCairnHybrid(o => o.Tags.Add("books"));

        Assert.Single(((IEndpointRouteBuilder)app).DataSources.Single().Endpoints);
        await app.DisposeAsync();

        static IResult FindBook(int id) => Results.Ok(id);
    }

    [Fact]
    public async Task Output_cache_of_the_package()
    {
        builder.Services.AddCairnOutputCache(o => o.Path = "responses.cairn");

        var app = builder.Build();
        app.UseOutputCache();

        Assert.NotNull(app.Services.GetService<IOutputCacheStore>());
        await app.DisposeAsync();
    }

    [Fact]
    public async Task Protocol_buffers()
    {
        builder.Services.AddCairnHybridCache().AddProtobuf();

        await ReadThroughAsync();
    }

    [Fact]
    public async Task Metadata_of_json_is_given()
    {
        builder.Services.AddCairnHybridCache(o => o.JsonResolvers.Add(BookJson.Default));

        await ReadThroughAsync();
    }

    [Fact]
    public async Task Serializers_of_the_application()
    {
        builder.Services.AddCairnHybridCache()
            .AddSerializer(new BookSerializer())           // 1: IHybridCacheSerializer<Book>
            .AddSerializerFactory<MyProtobufFactory>();    // 2

        await ReadThroughAsync();
    }

    [Fact]
    public async Task Health_check()
    {
        builder.Services.AddCairnHybridCache();

        builder.Services.AddHealthChecks().AddCairnHybridCache();

        await using var application = builder.Build();
        var report = await application.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
        Assert.Equal(HealthStatus.Healthy, report.Status);
    }

    [Fact]
    public async Task Settings_in_a_readable_file()
    {
        builder.Environment.ContentRootPath = Directory.GetCurrentDirectory();

        builder.Services.AddDistributedFileStoreCache(options => options.WhichVersion = FileStoreCacheVersions.Class, builder.Environment);

        await using var application = builder.Build();
        var settings = new Settings(application.Services.GetRequiredService<IDistributedFileStoreCacheClass>());
        settings.Change(new Theme { Name = "dark" });
        Assert.Equal("dark", settings.Theme.Name);
    }

    [Fact]
    public async Task Settings_that_are_watched()
    {
        builder.Environment.ContentRootPath = Directory.GetCurrentDirectory();
        builder.Services.AddDistributedFileStoreCache(options => options.WhichVersion = FileStoreCacheVersions.Class, builder.Environment);
        await using var application = builder.Build();
        var cache = application.Services.GetRequiredService<IDistributedFileStoreCacheClass>();
        var applied = new TaskCompletionSource<Theme?>();

        using var watch = SettingsWatch.Start(cache, applied.SetResult);
        await cache.SetClassAsync("theme", new Theme { Name = "dark" });

        Assert.Equal("dark", (await applied.Task)!.Name);
    }

    [Fact]
    public void Settings_where_the_file_is_far_away()
    {
        var options = new DistributedFileStoreCacheOptions();

        options.UsePolling = true;

        options.DistributedCache = services => services.GetRequiredService<IDistributedCache>();

        Assert.True(options.UsePolling);
    }

    private bool Has<T>() => builder.Services.Any(service => service.ServiceType == typeof(T));

    private async Task ReadThroughAsync()
    {
        await using var application = builder.Build();
        var cache = application.Services.GetRequiredService<HybridCache>();

        var book = await cache.GetOrCreateAsync("book:42", _ => new ValueTask<Book>(new Book(42, "Dune", 9.5m)));

        Assert.Equal("Dune", book.Title);
    }

    private sealed class BookSerializer : IHybridCacheSerializer<Book>
    {
        public Book Deserialize(ReadOnlySequence<byte> source) => new(1, Encoding.UTF8.GetString(source), 0);

        public void Serialize(Book value, IBufferWriter<byte> target) => target.Write(Encoding.UTF8.GetBytes(value.Title));
    }

    private sealed class MyProtobufFactory : IHybridCacheSerializerFactory
    {
        public bool TryCreateSerializer<T>([NotNullWhen(true)] out IHybridCacheSerializer<T>? serializer)
        {
            serializer = null;
            return false;
        }
    }
}

[JsonSerializable(typeof(Book))]
internal sealed partial class BookJson : JsonSerializerContext;
