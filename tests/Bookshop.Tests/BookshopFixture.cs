using System.Globalization;
using Bookshop.Reading;
using Bookshop.Tests.Servers;

namespace Bookshop.Tests;

/// <summary>The tests share the servers and a small catalogue, and run one after the other. Each test works on books of its own.</summary>
[CollectionDefinition(Name)]
public sealed class BookshopCollection : ICollectionFixture<BookshopFixture>
{
    public const string Name = "Bookshop";
}

/// <summary>Provides the servers, and an API in this process for each read path. Each of them is started on first use.</summary>
public sealed class BookshopFixture : IAsyncLifetime
{
    public const int Books = 500;
    public const int Authors = 50;
    public const string Database = "bookshop";

    private readonly Lazy<PostgresServer> _postgres = new(StartPostgres);
    private readonly Lazy<RedisServer> _redis = new(() => new RedisServer());
    private readonly Lazy<TestDirectory> _files = new(() => new TestDirectory());
    private readonly Dictionary<string, RunningShop> _shops = new(StringComparer.Ordinal);
    private int _nextNumber = 1_000;

    public static TheoryData<string> AllPaths => [.. ReadPaths.Names];

    public static TheoryData<string> CachedPaths => [.. ReadPaths.Names.Where(name => ReadPaths.Parse(name).IsCached())];

    /// <summary>Gets the path of the file with the settings of all shops.</summary>
    public string SettingsFile => _files.Value["settings.Production.json"];

    internal PostgresServer Postgres => _postgres.Value;

    /// <summary>Returns a number that no other test gets. Tests create ISBNs from it.</summary>
    public int NextNumber() => Interlocked.Increment(ref _nextNumber);

    public Task InitializeAsync() => Task.CompletedTask;

    public async Task DisposeAsync()
    {
        foreach (var shop in _shops.Values)
        {
            await shop.DisposeAsync();
        }

        if (_postgres.IsValueCreated)
        {
            _postgres.Value.Dispose();
        }

        if (_redis.IsValueCreated)
        {
            _redis.Value.Dispose();
        }

        if (_files.IsValueCreated)
        {
            _files.Value.Dispose();
        }
    }

    /// <summary>Returns the API with this read path, in this process.</summary>
    internal async Task<RunningShop> OpenAsync(string path)
    {
        if (!_shops.TryGetValue(path, out var shop))
        {
            shop = await RunningShop.StartAsync(SettingsOf(path));
            _shops.Add(path, shop);
        }

        return shop;
    }

    /// <summary>Returns the arguments of an API with this read path. APIs with the same name share their second level.</summary>
    internal string[] SettingsOf(string path, string name = "here", string database = Database) =>
    [
        "--urls", "http://127.0.0.1:0",
        "--ConnectionStrings:Bookshop", Postgres.ConnectionString(database),
        "--Bookshop:ReadPath", path,
        "--Bookshop:Books", Books.ToString(CultureInfo.InvariantCulture),
        "--Bookshop:Authors", Authors.ToString(CultureInfo.InvariantCulture),
        "--Bookshop:StoreFile", _files.Value[$"{name}-{path}.cairn"],
        "--Bookshop:SettingsFolder", _files.Value.Path,
        "--Bookshop:Redis", path is "hybrid+redis" ? _redis.Value.Configuration : "",
    ];

    private static PostgresServer StartPostgres()
    {
        var server = new PostgresServer();
        server.Run("postgres", $"CREATE DATABASE {Database}");
        server.Run(Database, "CREATE EXTENSION pg_stat_statements");
        return server;
    }
}
