using Cairn.Caching.Stores;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Cairn.Caching.Tests.Registration;

/// <summary>services.AddCairnDistributedCache().</summary>
public sealed class DistributedCacheRegistrationTests : IDisposable
{
    private readonly StoreDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void One_cache_is_there_under_each_of_its_names()
    {
        using ServiceProvider provider = Build(services => services.AddCairnDistributedCache(Configure));

        var cache = provider.GetRequiredService<IDistributedCache>();
        cache.Set("key", [1]);

        Assert.IsType<CairnDistributedCache>(cache);
        Assert.Same(cache, provider.GetRequiredService<IBufferDistributedCache>());
        Assert.Same(cache, provider.GetRequiredService<CairnDistributedCache>());
        Assert.NotNull(cache.Get("key"));
    }

    [Fact]
    public void Cache_that_was_registered_before_stays()
    {
        using ServiceProvider provider = Build(services => services.AddDistributedMemoryCache().AddCairnDistributedCache(Configure));

        Assert.IsType<MemoryDistributedCache>(provider.GetRequiredService<IDistributedCache>());
    }

    [Fact]
    public void Registering_twice_is_registering_once_with_both_settings()
    {
        using ServiceProvider provider = Build(services => services
            .AddCairnDistributedCache(Configure)
            .AddCairnDistributedCache(options => options.CollectionName = "second"));

        Assert.Single(provider.GetServices<IDistributedCache>());
        Assert.Equal("second", provider.GetRequiredService<CairnDistributedCache>().Entries.Name);
    }

    [Fact]
    public void Keyed_caches_have_options_of_their_own_and_share_one_opening_of_a_file()
    {
        using ServiceProvider provider = Build(services => services
            .AddCairnDistributedCache(Configure)
            .AddKeyedCairnDistributedCache("sessions", options =>
            {
                Configure(options);
                options.CollectionName = "sessions";
            }));
        var cache = provider.GetRequiredService<CairnDistributedCache>();
        var sessions = provider.GetRequiredKeyedService<CairnDistributedCache>("sessions");

        cache.Set("key", [1]);

        Assert.Null(sessions.Get("key"));
        Assert.Same(sessions, provider.GetRequiredKeyedService<IDistributedCache>("sessions"));
        Assert.Same(sessions, provider.GetRequiredKeyedService<IBufferDistributedCache>("sessions"));
        Assert.Same(cache.Entries.Engine, sessions.Entries.Engine);
    }

    [Fact]
    public void Store_is_closed_with_the_container()
    {
        CairnDistributedCache cache;
        using (ServiceProvider provider = Build(services => services.AddCairnDistributedCache(Configure)))
        {
            cache = provider.GetRequiredService<CairnDistributedCache>();
        }

        Assert.True(cache.Entries.Engine.IsClosed);
    }

    [Fact]
    public void Host_that_starts_opens_the_store_and_fails_with_the_reason_if_it_cannot()
    {
        using ServiceProvider good = Build(services => services.AddCairnDistributedCache(Configure).AddKeyedCairnDistributedCache("keyed", Configure));
        good.GetRequiredService<IStartupValidator>().Validate();
        Assert.True(File.Exists(_directory.FilePath));

        foreach (bool isKeyed in (bool[])[false, true])
        {
            using ServiceProvider bad = Build(services => _ = isKeyed
                ? services.AddKeyedCairnDistributedCache("keyed", options => options.Path = _directory["missing/store.cairn"])
                : services.AddCairnDistributedCache(options => options.Path = _directory["missing/store.cairn"]));

            var error = Assert.Throws<DirectoryNotFoundException>(() => bad.GetRequiredService<IStartupValidator>().Validate());
            Assert.Contains(_directory["missing"], error.Message, StringComparison.Ordinal);
        }
    }

    [RequiresMountFact]
    public void Full_disk_is_reported_when_the_host_starts()
    {
        using TestMount mount = TestMount.Tmpfs(2 << 20);
        using ServiceProvider provider = Build(services => services.AddCairnDistributedCache(options => options.Path = mount["store.cairn"]));

        var error = Assert.Throws<StoreException>(() => provider.GetRequiredService<IStartupValidator>().Validate());

        Assert.Contains("is full", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Default_file_of_a_service_is_the_applications_in_its_state_directory()
    {
        string state = _directory["state"];

        string named = DefaultStoreFile.Path("Book/Shop", name => name == "STATE_DIRECTORY" ? $"{state}:elsewhere" : null);
        string nameless = DefaultStoreFile.Path("", _ => state);

        Assert.Equal(Path.Combine(state, "Book-Shop.cairn"), named);
        Assert.Equal(Path.Combine(state, "application.cairn"), nameless);
        Assert.True(Directory.Exists(state));
    }

    [Fact]
    public void Default_folder_that_cannot_be_made_is_a_clear_error()
    {
        File.WriteAllText(_directory["file"], "");

        var error = Assert.Throws<StoreException>(() => DefaultStoreFile.Path("shop", _ => _directory["file/state"]));

        Assert.Contains("Set Path", error.Message, StringComparison.Ordinal);
    }

    private static ServiceProvider Build(Action<IServiceCollection> register)
    {
        var services = new ServiceCollection();
        register(services);
        return services.BuildServiceProvider(new ServiceProviderOptions { ValidateOnBuild = true, ValidateScopes = true });
    }

    private void Configure(CairnDistributedCacheOptions options)
    {
        options.Path = _directory.FilePath;
        options.CapacityBytes = StoreDirectory.SmallCapacityBytes;
        options.FlushOnClose = false;
    }
}
