using System.Net;
using System.Net.Http.Json;
using Bookshop.Tests.Servers;

namespace Bookshop.Tests.Endpoints;

/// <summary>/api/authors, with every read path.</summary>
[Collection(BookshopCollection.Name)]
public sealed class AuthorEndpointTests(BookshopFixture fixture)
{
    [RequiresToolFact(PostgresServer.Program)]
    public async Task Author_is_created_found_replaced_and_deleted()
    {
        var shop = await fixture.OpenAsync("hybrid");

        var id = await shop.Client.CreateAuthorAsync("Hana Ueda");
        var created = await shop.Client.JsonAsync($"/api/authors/{id}");
        using var replaced = await shop.Client.Http.PutAsJsonAsync($"/api/authors/{id}", ShopClient.Author("Hana Falk"));
        var changed = await shop.Client.JsonAsync($"/api/authors/{id}");
        using var deleted = await shop.Client.Http.DeleteAsync(new Uri($"/api/authors/{id}", UriKind.Relative));
        using var gone = await shop.Client.Http.GetAsync(new Uri($"/api/authors/{id}", UriKind.Relative));

        Assert.Equal("Hana Ueda", created.GetProperty("name").GetString());
        Assert.Equal(HttpStatusCode.OK, replaced.StatusCode);
        Assert.Equal("Hana Falk", changed.GetProperty("name").GetString());
        Assert.Equal(HttpStatusCode.NoContent, deleted.StatusCode);
        Assert.Equal(HttpStatusCode.NotFound, gone.StatusCode);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Author_with_books_cannot_be_deleted_before_them()
    {
        var shop = await fixture.OpenAsync("hybrid");
        var author = await shop.Client.CreateAuthorAsync("Hana Ueda");
        var book = await shop.Client.CreateBookAsync(ShopClient.Book(fixture.NextNumber(), authorId: author));

        using var refused = await shop.Client.Http.DeleteAsync(new Uri($"/api/authors/{author}", UriKind.Relative));
        await shop.Client.DeleteBookAsync(book);
        using var deleted = await shop.Client.Http.DeleteAsync(new Uri($"/api/authors/{author}", UriKind.Relative));

        Assert.Equal(HttpStatusCode.Conflict, refused.StatusCode);
        Assert.Equal(HttpStatusCode.NoContent, deleted.StatusCode);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Missing_entry_is_not_found_by_any_operation()
    {
        var shop = await fixture.OpenAsync("hybrid");

        HttpResponseMessage[] answers =
        [
            await shop.Client.Http.GetAsync(new Uri("/api/authors/99999999", UriKind.Relative)),
            await shop.Client.Http.PutAsJsonAsync("/api/authors/99999999", ShopClient.Author("Unknown")),
            await shop.Client.Http.DeleteAsync(new Uri("/api/authors/99999999", UriKind.Relative)),
        ];

        Assert.All(answers, answer => Assert.Equal(HttpStatusCode.NotFound, answer.StatusCode));
    }

    [RequiresToolTheory(PostgresServer.Program)]
    [InlineData("name", "", "Name")]
    [InlineData("country", "", "Country")]
    [InlineData("born", 0, "Born")]
    public async Task Author_with_a_wrong_field_is_refused_and_the_answer_names_the_field(string field, object value, string named)
    {
        var shop = await fixture.OpenAsync("hybrid");
        var author = new Dictionary<string, object>(StringComparer.Ordinal) { ["name"] = "Hana Ueda", ["country"] = "Japan", ["born"] = 1950 };
        author[field] = value;

        using var answer = await shop.Client.Http.PostAsJsonAsync("/api/authors", author);

        Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
        Assert.Equal([named], (await ShopClient.JsonAsync(answer)).GetProperty("errors").EnumerateObject().Select(error => error.Name));
    }
}
