using System.Net;
using System.Net.Sockets;
using Bookshop.Tests.Servers;

namespace Bookshop.Tests.Starting;

/// <summary>Each mistake that a new user is likely to make prints one line that says how to correct it.</summary>
[Collection(BookshopCollection.Name)]
public sealed class StartTests(BookshopFixture fixture)
{
    [Theory]
    [InlineData(new string[0], "samples/Bookshop/run")]
    [InlineData(new[] { "--ConnectionStrings:Bookshop", "Host=x", "--Bookshop:ReadPath", "sqlite" }, "ef, ef-notracking, dapper, hybrid, hybrid+store")]
    [InlineData(new[] { "--ConnectionStrings:Bookshop", "Host=x", "--Bookshop:CacheFor", "soon" }, "00:10:00")]
    [InlineData(new[] { "--ConnectionStrings:Bookshop", "Host=x", "--Bookshop:Books", "0" }, "from 1 to")]
    public void Wrong_setting_is_named_with_what_it_takes(string[] settings, string advice)
    {
        var mistake = Assert.Throws<BookshopSetupException>(() => BookshopApplication.Create(settings));

        Assert.Contains(advice, mistake.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Database_that_does_not_answer_ends_the_program_with_one_line_of_advice()
    {
        using var shop = ShopProcess.Start(
            "--urls", "http://127.0.0.1:0", "--ConnectionStrings:Bookshop", "Host=/nowhere;Username=me;Database=bookshop",
            "--Logging:LogLevel:Default", "None");

        var (exitCode, errors) = await shop.EndAsync();

        Assert.Equal(1, exitCode);
        Assert.StartsWith("bookshop: PostgreSQL does not answer", Assert.Single(errors.Trim().Split('\n')), StringComparison.Ordinal);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Database_that_does_not_exist_is_said_to_be_created_first()
    {
        var application = BookshopApplication.Create(fixture.SettingsOf("ef", database: "nowhere"));
        await using var _ = application;

        var mistake = await Assert.ThrowsAsync<BookshopSetupException>(() => application.StartAsync());

        Assert.Contains("createdb", mistake.Message, StringComparison.Ordinal);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Port_in_use_ends_the_program_with_one_line_of_advice()
    {
        using var other = new TcpListener(IPAddress.Loopback, 0);
        other.Start();
        using var shop = ShopProcess.Start(
            [.. fixture.SettingsOf("ef"), "--urls", $"http://{other.LocalEndpoint}", "--Logging:LogLevel:Default", "None"]);

        var (exitCode, errors) = await shop.EndAsync();

        Assert.Equal(1, exitCode);
        Assert.Contains("already in use", Assert.Single(errors.Trim().Split('\n')), StringComparison.Ordinal);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Program_that_is_stopped_while_it_generates_books_says_so_in_one_line()
    {
        fixture.Postgres.Run("postgres", "CREATE DATABASE stopped");
        using var shop = ShopProcess.Start([.. fixture.SettingsOf("ef", database: "stopped"), "--Bookshop:Books", "10000000"]);

        await shop.TerminateAtAsync("generating");
        var (exitCode, errors) = await shop.EndAsync();

        Assert.Equal(1, exitCode);
        Assert.Equal("bookshop: stopped before it was ready.", errors.Trim());
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Two_that_find_the_database_empty_at_once_fill_it_once()
    {
        fixture.Postgres.Run("postgres", "CREATE DATABASE fresh");
        var settings = fixture.SettingsOf("dapper", database: "fresh");

        var both = await Task.WhenAll(RunningShop.StartAsync(settings), RunningShop.StartAsync(settings));
        foreach (var shop in both)
        {
            await shop.DisposeAsync();
        }

        Assert.Equal((long)BookshopFixture.Books, fixture.Postgres.Ask("fresh", "SELECT count(*) FROM book"));
        Assert.Equal((long)BookshopFixture.Authors, fixture.Postgres.Ask("fresh", "SELECT count(*) FROM author"));
    }
}
