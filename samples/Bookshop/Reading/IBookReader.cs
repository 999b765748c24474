using Bookshop.Books;

namespace Bookshop.Reading;

/// <summary>Finds a book by its id. One object for all requests, safe from any thread.</summary>
internal interface IBookReader
{
    /// <returns>The book; null if there is none.</returns>
    ValueTask<BookDetails?> FindAsync(int id, CancellationToken cancellation);
}
