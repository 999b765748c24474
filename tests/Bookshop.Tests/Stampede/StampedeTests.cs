using System.Globalization;
using System.Net;
using System.Net.NetworkInformation;
using Bookshop.Tests.Servers;

namespace Bookshop.Tests.Stampede;

/// <summary>A thousand requests for one book that is not cached execute one query.</summary>
[Collection(BookshopCollection.Name)]
public sealed class StampedeTests(BookshopFixture fixture)
{
    private const int Requests = 1_000;
    private const string Database = BookshopFixture.Database;

    public static TheoryData<string> CachedPaths => BookshopFixture.CachedPaths;

    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [MemberData(nameof(CachedPaths))]
    public async Task Thousand_requests_at_once_for_a_cold_book_make_one_query(string path)
    {
        var shop = await fixture.OpenAsync(path);

        Assert.Equal(1, await QueriesAsync(shop.Address));
    }

    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [InlineData("hybrid+store")]
    [InlineData("hybrid+redis")]
    [InlineData("output-cache")]
    public async Task Thousand_requests_at_once_to_two_processes_make_one_query(string path)
    {
        // A process that cannot reach the second level in time asks the database itself. On a busy machine, a second can be too short.
        string[] settings = [.. fixture.SettingsOf(path, "pair"), "--Bookshop:SecondLevelTimeout", "00:00:30"];
        using var one = ShopProcess.Start(settings);
        var first = await one.AddressAsync();
        using var other = ShopProcess.Start(settings);

        Assert.Equal(1, await QueriesAsync(first, await other.AddressAsync()));
    }

    // Without a cache, each request executes a query. So the number really counts queries.
    [RequiresToolFact(PostgresServer.Program)]
    public async Task Without_a_cache_each_request_makes_its_own()
    {
        var shop = await fixture.OpenAsync("dapper");

        Assert.Equal(Requests, await QueriesAsync(shop.Address));
    }

    // The table is locked until all requests are in progress. So the first request cannot be answered before the last one arrives.
    private async Task<long> QueriesAsync(params Uri[] shops)
    {
        var id = (int)fixture.Postgres.Ask(
            Database,
            "INSERT INTO book (author_id, title, isbn, published, pages, price, language, description) "
            + $"VALUES (1, 'Cold', '{Bookshop.Catalogue.Isbn.OfNumber(fixture.NextNumber())}', '1965-08-01', 412, 9, 'en', '') RETURNING id");
        using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(60) };
        await using var holder = fixture.Postgres.Open(Database);
        PostgresServer.Run(holder, "SELECT pg_stat_statements_reset(); BEGIN; LOCK TABLE book IN ACCESS EXCLUSIVE MODE");

        var answers = Enumerable.Range(0, Requests).Select(i => client.GetAsync(new Uri(shops[i % shops.Length], $"/api/books/{id}"))).ToList();
        await Eventually.EqualAsync(true, () => Task.FromResult(shops.All(shop => Connections(shop.Port) >= Requests / shops.Length)));
        await Eventually.EqualAsync(true, () => Task.FromResult(IsAsked()));
        PostgresServer.Run(holder, "COMMIT");

        foreach (var answer in await Task.WhenAll(answers))
        {
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
            answer.Dispose();
        }

        return Convert.ToInt64(
            fixture.Postgres.Ask(Database, "SELECT COALESCE(SUM(calls), 0) FROM pg_stat_statements WHERE query LIKE '%FROM book b JOIN author a%'"),
            CultureInfo.InvariantCulture);
    }

    private bool IsAsked() =>
        (long)fixture.Postgres.Ask(Database, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM book b%'") > 0;

    // Counts the clients' ends. Connections of earlier tests can be among them. The test then only waits for fewer new connections.
    private static int Connections(int port) => IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpConnections()
        .Count(connection => connection.State == TcpState.Established && connection.RemoteEndPoint.Port == port);
}
