using System.ComponentModel;
using Bookshop.Catalogue;

namespace Bookshop.Books;

/// <summary>A book as the API shows it, and as it is cached. Nobody can change one, so that all requests may be given the same.</summary>
[ImmutableObject(true)]
internal sealed record BookDetails(
    int Id, string Title, string Isbn, DateOnly Published, int Pages, decimal Price, string Language, string Description, BookAuthor Author)
{
    public static BookDetails Of(Book book) => new(
        book.Id, book.Title, book.Isbn, book.Published, book.Pages, book.Price, book.Language, book.Description,
        new BookAuthor(book.AuthorId, book.Author!.Name));
}

/// <summary>What a book shows of its author.</summary>
[ImmutableObject(true)]
internal sealed record BookAuthor(int Id, string Name);
