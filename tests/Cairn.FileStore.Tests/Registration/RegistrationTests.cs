using Cairn.Caching.Tests;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.FileProviders;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Primitives;

namespace Cairn.FileStore.Tests.Registration;

/// <summary>AddDistributedFileStoreCache.</summary>
public sealed class RegistrationTests : IDisposable
{
    private readonly CacheFile _file = new();

    public static TheoryData<FileStoreCacheVersions, Type> Versions => new()
    {
        { FileStoreCacheVersions.String, typeof(IDistributedFileStoreCacheString) },
        { FileStoreCacheVersions.Class, typeof(IDistributedFileStoreCacheClass) },
        { FileStoreCacheVersions.Bytes, typeof(IDistributedFileStoreCacheBytes) },
        { FileStoreCacheVersions.IDistributedCache, typeof(IDistributedCache) },
    };

    public void Dispose() => _file.Dispose();

    [Theory]
    [MemberData(nameof(Versions))]
    public void Version_that_is_asked_for_is_a_singleton(FileStoreCacheVersions version, Type service)
    {
        var services = new ServiceCollection();

        DistributedFileStoreCacheOptions options = services.AddDistributedFileStoreCache(
            options => options.WhichInterface = version, new TestEnvironment(_file.DirectoryPath));

        Assert.Equal(version, options.WhichVersion);
        Assert.Equal(_file.DirectoryPath, options.PathToCacheFileDirectory);
        Assert.Equal("FileStoreCacheFile.Staging.json", options.FormCacheFileName());
        using ServiceProvider provider = services.BuildServiceProvider();
        Assert.Same(provider.GetRequiredService(service), provider.GetRequiredService(service));
        Assert.Equal(service, Assert.Single(services).ServiceType);
    }

    [Fact]
    public void Callback_of_a_change_token_that_throws_is_logged_once_a_minute()
    {
        using var loggers = new RecordingLoggers();
        var services = new ServiceCollection();
        services.AddSingleton<ILoggerFactory>(loggers);
        services.AddDistributedFileStoreCache(environment: new TestEnvironment(_file.DirectoryPath));
        using ServiceProvider provider = services.BuildServiceProvider();
        var cache = provider.GetRequiredService<IDistributedFileStoreCacheString>();
        int calls = 0;
        using IDisposable subscription = ChangeToken.OnChange(() => cache.Watch("key"), Fail);

        for (int change = 1; change <= 3; change++)
        {
            cache.Set("key", $"{change}");
            Eventually.Equal(change, () => Volatile.Read(ref calls));
        }

        Eventually.True(() => !loggers.Lines.IsEmpty);
        Assert.Equal(["Error 1: A callback of a change token of a cache file failed. 0 more such events were not logged."], loggers.Lines);

        void Fail()
        {
            Interlocked.Increment(ref calls);
            throw new InvalidOperationException("The callback says so.");
        }
    }

    [Fact]
    public void File_is_where_the_options_say()
    {
        var services = new ServiceCollection();
        services.AddDistributedFileStoreCache(
            options =>
            {
                options.PathToCacheFileDirectory = _file.DirectoryPath;
                options.FirstPartOfCacheFileName = "Cache";
                options.SecondPartOfCacheFileName = "Mine";
            },
            new TestEnvironment("/nowhere"));
        using ServiceProvider provider = services.BuildServiceProvider();

        provider.GetRequiredService<IDistributedFileStoreCacheString>().Set("a", "1");

        Assert.Contains("Cache.Mine.json", _file.FileNames);
    }

    [Fact]
    public void One_process_uses_several_files()
    {
        var services = new ServiceCollection();
        var environment = new TestEnvironment(_file.DirectoryPath);
        services.AddDistributedFileStoreCache(environment: environment);
        services.AddKeyedDistributedFileStoreCache("settings", options => options.FirstPartOfCacheFileName = "Settings", environment);
        services.AddKeyedDistributedFileStoreCache(
            "objects",
            options =>
            {
                options.FirstPartOfCacheFileName = "Objects";
                options.WhichVersion = FileStoreCacheVersions.Class;
            },
            environment);
        using ServiceProvider provider = services.BuildServiceProvider();

        provider.GetRequiredService<IDistributedFileStoreCacheString>().Set("a", "1");
        provider.GetRequiredKeyedService<IDistributedFileStoreCacheString>("settings").Set("a", "2");
        provider.GetRequiredKeyedService<IDistributedFileStoreCacheClass>("objects").Set("a", "3");

        Assert.Equal("1", provider.GetRequiredService<IDistributedFileStoreCacheString>().Get("a"));
        Assert.Equal(3, _file.FileNames.Count(name => name.EndsWith(".json", StringComparison.Ordinal)));
    }

    [Fact]
    public void Where_the_file_is_must_be_known()
    {
        var services = new ServiceCollection();

        Assert.Equal(
            "You either need to provide an value for the environment parameter, or set the options' PathToCacheFileDirectory property.",
            Assert.Throws<DistributedFileStoreCacheException>(() => services.AddDistributedFileStoreCache()).Message);
        Assert.Equal(
            "You either need to provide an value for the environment parameter, or set the options' SecondPartOfCacheFileName property.",
            Assert.Throws<DistributedFileStoreCacheException>(
                () => services.AddDistributedFileStoreCache(options => options.PathToCacheFileDirectory = "/tmp")).Message);
        Assert.Throws<DistributedFileStoreCacheException>(() => services.AddDistributedFileStoreCache(options => options.PathToCacheFileDirectory = "x"));
    }

    [Fact]
    public void Option_out_of_its_range_is_an_error_that_names_it()
    {
        AssertRefused(options => options.MaxBytesInJsonCacheFile = 99, "MaxBytesInJsonCacheFile is 99");
        AssertRefused(options => options.NumTriesOnUnauthorizedAccess = 0, "NumTriesOnUnauthorizedAccess");
        AssertRefused(options => options.DelayMillisecondsOnUnauthorizedAccess = -1, "DelayMillisecondsOnUnauthorizedAccess");
        AssertRefused(options => options.ChangePollInterval = TimeSpan.Zero, "ChangePollInterval");
        AssertRefused(options => options.LockTimeout = TimeSpan.FromHours(2), "LockTimeout");
        AssertRefused(options => options.WhichVersion = (FileStoreCacheVersions)9, "WhichVersion");
        AssertRefused(options => options.FirstPartOfCacheFileName = "a/b", "FirstPartOfCacheFileName");
    }

    private void AssertRefused(Action<DistributedFileStoreCacheOptions> configure, string text)
    {
        var refusal = Assert.Throws<ArgumentException>(
            () => new ServiceCollection().AddDistributedFileStoreCache(configure, new TestEnvironment(_file.DirectoryPath)));
        Assert.Contains(text, refusal.Message, StringComparison.Ordinal);
    }

    private sealed class TestEnvironment(string contentRootPath) : IHostEnvironment
    {
        public string EnvironmentName { get; set; } = "Staging";

        public string ApplicationName { get; set; } = "Test";

        public string ContentRootPath { get; set; } = contentRootPath;

        public IFileProvider ContentRootFileProvider { get; set; } = new NullFileProvider();
    }
}
