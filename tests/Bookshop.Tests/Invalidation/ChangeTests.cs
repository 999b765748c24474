using System.Globalization;
using System.Net;
using System.Net.Http.Json;
using Bookshop.Tests.Servers;

namespace Bookshop.Tests.Invalidation;

/// <summary>Readers see a change through the API at once, and a change in the database soon.</summary>
[Collection(BookshopCollection.Name)]
public sealed class ChangeTests(BookshopFixture fixture)
{
    public static TheoryData<string> AllPaths => BookshopFixture.AllPaths;

    public static TheoryData<string> CachedPaths => BookshopFixture.CachedPaths;

    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [MemberData(nameof(AllPaths))]
    public async Task Book_is_the_same_on_every_path_when_it_is_loaded_and_when_it_is_found_again(string path)
    {
        var shop = await fixture.OpenAsync(path);
        var plain = await fixture.OpenAsync("ef");

        Assert.Equal(await TextAsync(plain), await TextAsync(shop));
        Assert.Equal(await TextAsync(plain), await TextAsync(shop));

        static async Task<string> TextAsync(RunningShop shop) => (await shop.Client.JsonAsync("/api/books/17")).GetRawText();
    }

    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [MemberData(nameof(AllPaths))]
    public async Task Book_that_was_replaced_deleted_or_created_through_the_api_is_seen_so_from_then_on(string path)
    {
        var client = (await fixture.OpenAsync(path)).Client;
        var number = fixture.NextNumber();
        var next = await NextBookIdAsync(client);
        Assert.Null(await client.TitleAsync(next));

        var id = await client.CreateBookAsync(ShopClient.Book(number));
        Assert.Equal((next, "Dune"), (id, await client.TitleAsync(id)));

        await client.ReplaceBookAsync(id, ShopClient.Book(number, "Dune Messiah"));
        Assert.Equal("Dune Messiah", await client.TitleAsync(id));
        Assert.Equal("Dune Messiah", await client.TitleAsync(id));

        await client.DeleteBookAsync(id);
        Assert.Null(await client.TitleAsync(id));
    }

    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [MemberData(nameof(AllPaths))]
    public async Task Author_that_was_renamed_through_the_api_has_the_new_name_in_all_books_from_then_on(string path)
    {
        var client = (await fixture.OpenAsync(path)).Client;
        var author = await client.CreateAuthorAsync("Hana Ueda");
        int[] books =
        [
            await client.CreateBookAsync(ShopClient.Book(fixture.NextNumber(), authorId: author)),
            await client.CreateBookAsync(ShopClient.Book(fixture.NextNumber(), authorId: author)),
        ];
        foreach (var book in books)
        {
            Assert.Equal("Hana Ueda", await client.AuthorNameAsync(book));
        }

        using var answer = await client.Http.PutAsJsonAsync($"/api/authors/{author}", ShopClient.Author("Hana Falk"));

        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        foreach (var book in books)
        {
            Assert.Equal("Hana Falk", await client.AuthorNameAsync(book));
        }
    }

    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [MemberData(nameof(CachedPaths))]
    public async Task Change_in_the_database_itself_is_seen_as_soon_as_its_notification_arrives(string path)
    {
        var client = (await fixture.OpenAsync(path)).Client;
        var author = await client.CreateAuthorAsync("Hana Ueda");
        var id = await client.CreateBookAsync(ShopClient.Book(fixture.NextNumber(), authorId: author));
        Assert.Equal(("Dune", "Hana Ueda"), (await client.TitleAsync(id), await client.AuthorNameAsync(id)));

        Run($"UPDATE book SET title = 'Emma' WHERE id = {id}");
        await Eventually.EqualAsync("Emma", () => client.TitleAsync(id));

        Run($"UPDATE author SET name = 'Hana Falk' WHERE id = {author}");
        await Eventually.EqualAsync("Hana Falk", () => client.AuthorNameAsync(id));

        Run($"DELETE FROM book WHERE id = {id}");
        await Eventually.EqualAsync(null, () => client.TitleAsync(id));

        // The cache now holds the fact that the book does not exist.
        Run(
            "INSERT INTO book (id, author_id, title, isbn, published, pages, price, language, description) "
            + $"VALUES ({id}, {author}, 'Persuasion', '{Bookshop.Catalogue.Isbn.OfNumber(fixture.NextNumber())}', '1817-12-20', 236, 7, 'en', '')");
        await Eventually.EqualAsync("Persuasion", () => client.TitleAsync(id));

        // This changes the id itself, so one book disappears and another appears.
        Run($"UPDATE book SET id = id + 1000000 WHERE id = {id}");
        await Eventually.EqualAsync(null, () => client.TitleAsync(id));
        Assert.Equal("Persuasion", await client.TitleAsync(id + 1_000_000));
    }

    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [MemberData(nameof(CachedPaths))]
    public async Task Changes_while_no_process_listened_are_seen_when_one_listens_again(string path)
    {
        var client = (await fixture.OpenAsync(path)).Client;
        var id = await client.CreateBookAsync(ShopClient.Book(fixture.NextNumber()));
        Assert.Equal("Dune", await client.TitleAsync(id));

        // The trigger is off, so only the lost connection can cause the invalidation.
        Run($"""
            SET session_replication_role = replica;
            UPDATE book SET title = 'Emma' WHERE id = {id};
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bookshop listener';
            """);

        await Eventually.EqualAsync("Emma", () => client.TitleAsync(id));
        await Eventually.EqualAsync("Healthy", () => client.Http.GetStringAsync(new Uri("/health", UriKind.Relative)));
    }

    // A book changes through the API and directly while readers read. Each price is higher than the one before. A reader that starts after a change
    // through the API was answered gets that price or a higher one.
    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [MemberData(nameof(CachedPaths))]
    public async Task Reader_never_gets_a_book_from_before_an_acknowledged_change_whatever_else_is_going_on(string path)
    {
        const int Changes = 60;
        var client = (await fixture.OpenAsync(path)).Client;
        var number = fixture.NextNumber();
        var id = await client.CreateBookAsync(ShopClient.Book(number, price: 0));
        var acknowledged = 0;
        var isDone = false;

        var readers = Enumerable.Range(0, 4).Select(_ => Task.Run(async () =>
        {
            var reads = 0;
            while (!Volatile.Read(ref isDone))
            {
                var least = Volatile.Read(ref acknowledged);
                var price = await PriceAsync(client, id);
                Assert.True(price >= least, $"Read {price} after {least} was acknowledged.");
                reads++;
            }

            return reads;
        })).ToList();
        for (var price = 1; price <= Changes; price++)
        {
            if (price % 3 == 0)
            {
                Run($"UPDATE book SET price = {price.ToString(CultureInfo.InvariantCulture)} WHERE id = {id}");
            }
            else
            {
                await client.ReplaceBookAsync(id, ShopClient.Book(number, price: price));
                Volatile.Write(ref acknowledged, price);
            }
        }

        Volatile.Write(ref isDone, true);
        Assert.All(await Task.WhenAll(readers), reads => Assert.NotEqual(0, reads));
        await Eventually.EqualAsync(Changes, () => PriceAsync(client, id));
    }

    [RequiresToolTheory(PostgresServer.Program, RedisServer.Program)]
    [InlineData("hybrid", false)]
    [InlineData("hybrid+store", true)]
    [InlineData("hybrid+redis", false)]
    [InlineData("output-cache", true)]
    [InlineData("output-cache-middleware", true)]
    public async Task Change_through_one_process_is_seen_by_another_one_at_once_over_a_store_file_and_soon_otherwise(string path, bool isAtOnce)
    {
        var here = (await fixture.OpenAsync(path)).Client;
        using var other = ShopProcess.Start(fixture.SettingsOf(path));
        using var there = new ShopClient(await other.AddressAsync());
        var number = fixture.NextNumber();
        var id = await here.CreateBookAsync(ShopClient.Book(number));
        Assert.Equal(("Dune", "Dune"), (await here.TitleAsync(id), await there.TitleAsync(id)));

        foreach (var (from, to, title) in ((ShopClient, ShopClient, string)[])[(here, there, "Emma"), (there, here, "Persuasion")])
        {
            await from.ReplaceBookAsync(id, ShopClient.Book(number, title));
            var seen = await to.TitleAsync(id);
            if (isAtOnce)
            {
                Assert.Equal(title, seen);
            }

            await Eventually.EqualAsync(title, () => to.TitleAsync(id));
        }
    }

    private static async Task<int> PriceAsync(ShopClient client, int id) => (int)(await client.JsonAsync($"/api/books/{id}")).GetProperty("price").GetDecimal();

    // Reads the sequence by creating a book. The sequence advances even if the last insert failed.
    private async Task<int> NextBookIdAsync(ShopClient client)
    {
        var last = await client.CreateBookAsync(ShopClient.Book(fixture.NextNumber()));
        return last + 1;
    }

    private void Run(string sql) => fixture.Postgres.Run(BookshopFixture.Database, sql);
}
