using System.Net;
using Bookshop.Tests.Servers;

namespace Bookshop.Tests.Endpoints;

/// <summary>Endpoints for operators and for programs: health, statistics, API description.</summary>
[Collection(BookshopCollection.Name)]
public sealed class OperationTests(BookshopFixture fixture)
{
    public static TheoryData<string> AllPaths => BookshopFixture.AllPaths;

    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [MemberData(nameof(AllPaths))]
    public async Task Every_read_path_is_healthy_and_says_which_one_it_is(string path)
    {
        var shop = await fixture.OpenAsync(path);

        Assert.Equal("Healthy", await shop.Client.Http.GetStringAsync(new Uri("/health", UriKind.Relative)));
        Assert.Equal(path, (await shop.Client.JsonAsync("/statistics")).GetProperty("readPath").GetString());
    }

    [RequiresToolTheory(PostgresServer.Program)]
    [InlineData("hybrid", HttpStatusCode.OK)]
    [InlineData("ef", HttpStatusCode.NotFound)]
    public async Task Read_path_with_a_hybrid_cache_has_a_dashboard(string path, HttpStatusCode expected)
    {
        var shop = await fixture.OpenAsync(path);

        using var response = await shop.Client.Http.GetAsync(new Uri("/cairn", UriKind.Relative));

        Assert.Equal(expected, response.StatusCode);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Dashboard_is_only_for_this_machine_and_not_for_what_a_proxy_forwards()
    {
        var shop = await fixture.OpenAsync("hybrid");
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri("/cairn", UriKind.Relative));
        request.Headers.Add("X-Forwarded-For", "192.0.2.1");

        using var response = await shop.Client.Http.SendAsync(request);

        Assert.Equal(HttpStatusCode.Forbidden, response.StatusCode);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Openapi_document_names_every_request_that_is_answered()
    {
        var shop = await fixture.OpenAsync("hybrid");

        var document = await shop.Client.JsonAsync("/openapi/v1.json");

        var operations =
            from path in document.GetProperty("paths").EnumerateObject()
            from operation in path.Value.EnumerateObject()
            select $"{operation.Name} {path.Name}";
        Assert.Equal(
            [
                "delete /api/authors/{id}", "delete /api/books/{id}", "get /api/authors/{id}", "get /api/books", "get /api/books/{id}", "get /api/constant",
                "get /api/settings", "get /statistics", "post /api/authors", "post /api/books", "post /api/settings", "put /api/authors/{id}", "put /api/books/{id}",
            ],
            operations.Order(StringComparer.Ordinal));
    }
}
