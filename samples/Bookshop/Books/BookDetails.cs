using System.ComponentModel;
using System.Text.Json;
using System.Text.Json.Serialization;
using Bookshop.Catalogue;

namespace Bookshop.Books;

/// <summary>A book as the API shows it, and as it is cached. It is immutable, so all requests can share one object.</summary>
[ImmutableObject(true)]
internal sealed record BookDetails(
    int Id, string Title, string Isbn, DateOnly Published, int Pages, decimal Price, string Language, string Description, BookAuthor Author)
{
    private byte[]? _json;

    /// <summary>
    /// The book as JSON. It is made once for an object: all requests that find the book in memory are given the same object, and then none of them
    /// but the first has to write it again.
    /// </summary>
    [JsonIgnore]
    public ReadOnlyMemory<byte> Json => _json ??= JsonSerializer.SerializeToUtf8Bytes(this, BookshopJson.Default.BookDetails);

    public static BookDetails Of(Book book) => new(
        book.Id, book.Title, book.Isbn, book.Published, book.Pages, book.Price, book.Language, book.Description,
        new BookAuthor(book.AuthorId, book.Author!.Name));
}

/// <summary>What a book shows of its author.</summary>
[ImmutableObject(true)]
internal sealed record BookAuthor(int Id, string Name);
