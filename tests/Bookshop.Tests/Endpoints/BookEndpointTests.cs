using System.Net;
using System.Net.Http.Json;
using System.Text;
using Bookshop.Tests.Servers;

namespace Bookshop.Tests.Endpoints;

/// <summary>/api/books, with every read path.</summary>
[Collection(BookshopCollection.Name)]
public sealed class BookEndpointTests(BookshopFixture fixture)
{
    [RequiresToolFact(PostgresServer.Program)]
    public async Task Book_that_was_created_is_where_the_answer_says_with_all_that_was_sent()
    {
        var shop = await fixture.OpenAsync("hybrid");
        var number = fixture.NextNumber();

        using var created = await shop.Client.Http.PostAsJsonAsync("/api/books", ShopClient.Book(number, "Dune", authorId: 7));
        var book = await shop.Client.JsonAsync(created.Headers.Location!.ToString());

        Assert.Equal(HttpStatusCode.Created, created.StatusCode);
        Assert.Equal((await ShopClient.JsonAsync(created)).GetRawText(), book.GetRawText());
        Assert.Equal(
            ("Dune", Bookshop.Catalogue.Isbn.OfNumber(number), "1965-08-01", 412, 9.99m, "en", "Of sand.", 7),
            (book.GetProperty("title").GetString(), book.GetProperty("isbn").GetString(), book.GetProperty("published").GetString(),
                book.GetProperty("pages").GetInt32(), book.GetProperty("price").GetDecimal(), book.GetProperty("language").GetString(),
                book.GetProperty("description").GetString(), book.GetProperty("author").GetProperty("id").GetInt32()));
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Missing_entry_is_not_found_by_any_operation()
    {
        var shop = await fixture.OpenAsync("hybrid");
        var body = ShopClient.Book(fixture.NextNumber());

        HttpResponseMessage[] answers =
        [
            await shop.Client.FindAsync(99_999_999),
            await shop.Client.Http.PutAsJsonAsync("/api/books/99999999", body),
            await shop.Client.Http.DeleteAsync(new Uri("/api/books/99999999", UriKind.Relative)),
            await shop.Client.Http.GetAsync(new Uri("/api/books/dune", UriKind.Relative)),
            await shop.Client.Http.GetAsync(new Uri("/api/films", UriKind.Relative)),
        ];

        Assert.All(answers, answer => Assert.Equal(
            (HttpStatusCode.NotFound, "application/problem+json"), (answer.StatusCode, answer.Content.Headers.ContentType?.MediaType)));
    }

    [RequiresToolTheory(PostgresServer.Program)]
    [InlineData("title", "", "Title")]
    [InlineData("isbn", "9780000000420", "Isbn")]
    [InlineData("isbn", "978", "Isbn")]
    [InlineData("language", "English", "Language")]
    [InlineData("authorId", 0, "AuthorId")]
    [InlineData("authorId", 99_999_999, "AuthorId")]
    [InlineData("pages", 0, "Pages")]
    [InlineData("pages", 20_001, "Pages")]
    [InlineData("price", -1, "Price")]
    [InlineData("price", 100_000, "Price")]
    public async Task Book_with_a_wrong_field_is_refused_and_the_answer_names_the_field(string field, object value, string named)
    {
        var shop = await fixture.OpenAsync("hybrid");
        var book = new Dictionary<string, object>(StringComparer.Ordinal)
        {
            ["authorId"] = 1, ["title"] = "Dune", ["isbn"] = Bookshop.Catalogue.Isbn.OfNumber(fixture.NextNumber()), ["published"] = "1965-08-01",
            ["pages"] = 412, ["price"] = 9.99, ["language"] = "en", ["description"] = "",
        };
        var correct = await shop.Client.CreateBookAsync(book);
        book["isbn"] = Bookshop.Catalogue.Isbn.OfNumber(fixture.NextNumber());
        book[field] = value;

        using var created = await shop.Client.Http.PostAsJsonAsync("/api/books", book);
        using var replaced = await shop.Client.Http.PutAsJsonAsync($"/api/books/{correct}", book);

        foreach (var answer in (HttpResponseMessage[])[created, replaced])
        {
            Assert.Equal((HttpStatusCode.BadRequest, "application/problem+json"), (answer.StatusCode, answer.Content.Headers.ContentType?.MediaType));
            Assert.Equal([named], (await ShopClient.JsonAsync(answer)).GetProperty("errors").EnumerateObject().Select(error => error.Name));
        }
    }

    [RequiresToolTheory(PostgresServer.Program)]
    [InlineData("title")]
    [InlineData("isbn")]
    [InlineData("description")]
    public async Task Null_where_a_text_belongs_is_a_bad_request(string field)
    {
        var shop = await fixture.OpenAsync("hybrid");
        var book = new Dictionary<string, object?>(StringComparer.Ordinal)
        {
            ["authorId"] = 1, ["title"] = "Dune", ["isbn"] = Bookshop.Catalogue.Isbn.OfNumber(fixture.NextNumber()), ["pages"] = 412, ["language"] = "en",
        };
        await shop.Client.CreateBookAsync(book);
        book[field] = null;

        using var answer = await shop.Client.Http.PostAsJsonAsync("/api/books", book);

        Assert.Equal(
            (HttpStatusCode.BadRequest, "application/problem+json"), (answer.StatusCode, answer.Content.Headers.ContentType?.MediaType));
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Isbn_of_another_book_is_a_conflict()
    {
        var shop = await fixture.OpenAsync("hybrid");
        var number = fixture.NextNumber();
        await shop.Client.CreateBookAsync(ShopClient.Book(number));

        using var again = await shop.Client.Http.PostAsJsonAsync("/api/books", ShopClient.Book(number));

        Assert.Equal(HttpStatusCode.Conflict, again.StatusCode);
        Assert.Contains("ISBN", (await ShopClient.JsonAsync(again)).GetProperty("detail").GetString(), StringComparison.Ordinal);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Body_that_is_no_JSON_is_a_bad_request_with_problem_details()
    {
        var shop = await fixture.OpenAsync("hybrid");
        using var content = new StringContent("{\"title\": ", Encoding.UTF8, "application/json");

        using var answer = await shop.Client.Http.PostAsync(new Uri("/api/books", UriKind.Relative), content);

        Assert.Equal(
            (HttpStatusCode.BadRequest, "application/problem+json"), (answer.StatusCode, answer.Content.Headers.ContentType?.MediaType));
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Books_are_found_by_the_beginning_of_their_title_in_any_case_page_by_page()
    {
        var shop = await fixture.OpenAsync("hybrid");
        foreach (var title in (string[])["Zzyzx Road", "zzyzx rising", "ZZYZX", "Not Zzyzx"])
        {
            await shop.Client.CreateBookAsync(ShopClient.Book(fixture.NextNumber(), title));
        }

        var first = await shop.Client.JsonAsync("/api/books?title=zZyzx&limit=2");
        var second = await shop.Client.JsonAsync("/api/books?title=zZyzx&skip=2&limit=2");

        Assert.Equal((["ZZYZX", "zzyzx rising"], true), (Titles(first), first.GetProperty("hasMore").GetBoolean()), TitlesAndMore);
        Assert.Equal((["Zzyzx Road"], false), (Titles(second), second.GetProperty("hasMore").GetBoolean()), TitlesAndMore);
    }

    [RequiresToolFact(PostgresServer.Program)]
    public async Task Percent_and_underscore_in_a_title_stand_for_themselves()
    {
        var shop = await fixture.OpenAsync("hybrid");
        await shop.Client.CreateBookAsync(ShopClient.Book(fixture.NextNumber(), "100% Wool"));
        await shop.Client.CreateBookAsync(ShopClient.Book(fixture.NextNumber(), "1000 Sheep"));

        Assert.Equal(["100% Wool"], Titles(await shop.Client.JsonAsync("/api/books?title=100%25")));
        Assert.Empty(Titles(await shop.Client.JsonAsync("/api/books?title=100_")));
    }

    [RequiresToolTheory(PostgresServer.Program)]
    [InlineData("")]
    [InlineData("?title=")]
    [InlineData("?title=a&limit=0")]
    [InlineData("?title=a&limit=101")]
    [InlineData("?title=a&skip=-1")]
    [InlineData("?title=a&limit=many")]
    public async Task Search_that_asks_for_nonsense_is_a_bad_request(string query)
    {
        var shop = await fixture.OpenAsync("hybrid");

        using var answer = await shop.Client.Http.GetAsync(new Uri("/api/books" + query, UriKind.Relative));

        Assert.Equal(
            (HttpStatusCode.BadRequest, "application/problem+json"), (answer.StatusCode, answer.Content.Headers.ContentType?.MediaType));
    }

    private static bool TitlesAndMore((string[] Titles, bool More) one, (string[] Titles, bool More) other) =>
        one.More == other.More && one.Titles.SequenceEqual(other.Titles, StringComparer.Ordinal);

    private static string[] Titles(System.Text.Json.JsonElement page) =>
        [.. page.GetProperty("books").EnumerateArray().Select(book => book.GetProperty("title").GetString()!)];
}
