using Cairn.Cli.Tests.Servers;
using Cairn.FileStore;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Cli.Tests.Serving;

/// <summary>
/// An application that used the readable file continues with the same interfaces over a server: docs/how-to/readable-file.md. Two service providers
/// represent two machines.
/// </summary>
public sealed class MovedFileCacheTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Code_that_is_moved_works_on_a_file()
    {
        await using ServiceProvider services = Build(FileStoreCacheVersions.Class, _ => _ => { });
        await using ServiceProvider others = Build(FileStoreCacheVersions.Class, _ => _ => { });

        await AssertWorksAsync(services, others);
    }

    [RequiresToolFact("redis-server")]
    public async Task One_line_moves_the_interfaces_onto_Redis()
    {
        using PeerProcess redis = PeerProcess.Redis();

        await AssertMovedAsync(redis.Address["unix:".Length..]);
    }

    [Fact]
    public async Task One_line_moves_the_interfaces_onto_a_Cairn_server()
    {
        string socket = _directory["cairn.sock"];
        using ToolProcess server = ToolProcess.Start("serve", "--ephemeral", "--capacity", "8MiB", "--memcached", "off", "--http", "off", "--resp", $"unix:{socket}");
        while (server.ReadErrorLine() is { Length: > 0 } line && !line.Contains("Listening for", StringComparison.Ordinal))
        {
            // Waits until the server listens or has ended.
        }

        await AssertMovedAsync(socket);
    }

    private async Task AssertMovedAsync(string socket)
    {
        await using ServiceProvider services = BuildMoved(FileStoreCacheVersions.Class, socket);
        await using ServiceProvider others = BuildMoved(FileStoreCacheVersions.Class, socket);
        await AssertWorksAsync(services, others);

        await using ServiceProvider bytes = BuildMoved(FileStoreCacheVersions.Bytes, socket);
        var cache = bytes.GetRequiredService<IDistributedFileStoreCacheBytes>();
        await cache.SetAsync("bytes", [0, 255, 10], new DistributedCacheEntryOptions());
        Assert.Equal([0, 255, 10], await cache.GetAsync("bytes"));
        Assert.Empty(Directory.GetFiles(_directory.Path, "*.json"));
    }

#pragma warning disable VSTHRD103, CA1849 // Both forms of the interface are under test.
    private static async Task AssertWorksAsync(ServiceProvider services, ServiceProvider others)
    {
        var cache = services.GetRequiredService<IDistributedFileStoreCacheClass>();
        var other = others.GetRequiredService<IDistributedFileStoreCacheClass>();

        cache.Set("text", "Grüße \"\n\ud800");
        await cache.SetClassAsync("object", new Shelf { Name = "A", Books = 3 });
        cache.SetMany([new("1", "one"), new("2", "two")], new DistributedCacheEntryOptions { AbsoluteExpirationRelativeToNow = TimeSpan.FromHours(1) });

        Assert.Equal("Grüße \"\n\ud800", other.Get("text"));
        Assert.Equal(3, other.GetClass<Shelf>("object")!.Books);
        Assert.Equal("A", other.GetClassFromString<Shelf>(await other.GetAsync("object"))!.Name);
        Assert.Equal(["1", "2"], other.GetMany(["1", "2", "3"]).Keys.Order(StringComparer.Ordinal));
        await other.RemoveAsync("1");
        Assert.Null(cache.Get("1"));
        cache.Set("gone", "x", new DistributedCacheEntryOptions { AbsoluteExpirationRelativeToNow = TimeSpan.FromMilliseconds(1) });
        Assert.True(SpinWait.SpinUntil(() => other.Get("gone") is null, TimeSpan.FromSeconds(30)), "It did not expire.");
    }
#pragma warning restore VSTHRD103, CA1849

    private ServiceProvider BuildMoved(FileStoreCacheVersions version, string socket) => Build(version, services =>
    {
        // The time-outs are long, because a busy machine is not a failed server.
        services.AddCairnRedis(options => options.Configuration = $"!{socket},connectTimeout=30000,syncTimeout=30000");
        return options => options.DistributedCache = services => services.GetRequiredService<IDistributedCache>();
    });

    private ServiceProvider Build(FileStoreCacheVersions version, Func<IServiceCollection, Action<DistributedFileStoreCacheOptions>> configure)
    {
        var services = new ServiceCollection();
        Action<DistributedFileStoreCacheOptions> more = configure(services);
        services.AddDistributedFileStoreCache(options =>
        {
            options.WhichVersion = version;
            options.PathToCacheFileDirectory = _directory.Path;
            options.SecondPartOfCacheFileName = "Test";
            more(options);
        });
        return services.BuildServiceProvider();
    }

    private sealed class Shelf
    {
        public string? Name { get; set; }

        public int Books { get; set; }
    }
}
