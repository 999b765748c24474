using Bookshop.Tests.Servers;

namespace Bookshop.Tests.Endpoints;

/// <summary>What operators and programs ask for.</summary>
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
                "get /statistics", "post /api/authors", "post /api/books", "put /api/authors/{id}", "put /api/books/{id}",
            ],
            operations.Order(StringComparer.Ordinal));
    }
}
