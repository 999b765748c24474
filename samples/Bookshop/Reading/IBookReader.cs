using Bookshop.Books;

namespace Bookshop.Reading;

/// <summary>Finds a book by its id. All requests share one object, which is safe from any thread.</summary>
internal interface IBookReader
{
    /// <returns>The book, or null if it does not exist.</returns>
    ValueTask<BookDetails?> FindAsync(int id, CancellationToken cancellation);
}
