using Bookshop.Catalogue;

namespace Bookshop.Tests.Catalogue;

/// <summary>The generated catalogue is the same on every machine, and looks like that of a real shop.</summary>
public sealed class CatalogueGeneratorTests
{
    private const int Books = 100_000;
    private const int Authors = 10_000;

    [Fact]
    public void Book_depends_on_its_id_alone()
    {
        var book = new CatalogueGenerator(Authors).Book(42);

        Assert.Equal(
            (42, 8_638, "The Cartographer of Lisbon", "9780000000422", new DateOnly(1950, 3, 8), 493, 30.99m, "pt"),
            (book.Id, book.AuthorId, book.Title, book.Isbn, book.Published, book.Pages, book.Price, book.Language));
        Assert.Equal("Hana Ueda", CatalogueGenerator.Author(book.AuthorId).Name);
    }

    [Fact]
    public void Every_book_of_the_catalogue_is_one_that_the_api_would_take()
    {
        var generator = new CatalogueGenerator(Authors);
        var books = Enumerable.Range(1, Books).Select(generator.Book).ToList();

        Assert.Equal(Books, books.Select(book => book.Isbn).Distinct(StringComparer.Ordinal).Count());
        Assert.All(books, book =>
        {
            Assert.True(Isbn.IsValid(book.Isbn));
            Assert.InRange(book.AuthorId, 1, Authors);
            Assert.InRange(book.Title.Length, 1, 200);
            Assert.InRange(book.Description.Length, 1, 4_000);
        });
    }

    [Theory]
    [InlineData("9780306406157", true)]
    [InlineData("9780306406158", false)]
    [InlineData("978030640615", false)]
    [InlineData("97803064061570", false)]
    [InlineData("978-030640615", false)]
    [InlineData("", false)]
    public void Isbn_has_13_digits_of_which_the_last_checks_the_others(string text, bool isValid) => Assert.Equal(isValid, Isbn.IsValid(text));
}
