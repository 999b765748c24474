using System.ComponentModel;
using System.Text.Json;
using System.Text.Json.Serialization;
using Bookshop.Catalogue;

namespace Bookshop.Books;

/// <summary>A book in responses of the API and in the cache. It is immutable, so all requests can share one object.</summary>
[ImmutableObject(true)]
internal sealed record BookDetails(
    int Id, string Title, string Isbn, DateOnly Published, int Pages, decimal Price, string Language, string Description, BookAuthor Author)
{
    private byte[]? _json;

    /// <summary>
    /// Gets the book as JSON. An object serializes itself once. All requests that find the book in memory receive the same object, so only the first of
    /// them serializes it.
    /// </summary>
    [JsonIgnore]
    public ReadOnlyMemory<byte> Json => _json ??= JsonSerializer.SerializeToUtf8Bytes(this, BookshopJson.Default.BookDetails);

    public static BookDetails Of(Book book) => new(
        book.Id, book.Title, book.Isbn, book.Published, book.Pages, book.Price, book.Language, book.Description,
        new BookAuthor(book.AuthorId, book.Author!.Name));
}

/// <summary>The data of an author that a book contains.</summary>
[ImmutableObject(true)]
internal sealed record BookAuthor(int Id, string Name);
