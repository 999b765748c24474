using Bookshop.Books;
using Bookshop.Catalogue;
using Microsoft.EntityFrameworkCore;

namespace Bookshop.Reading;

/// <summary>Reads a book with Entity Framework Core. Each book gets a context of its own, as a request does.</summary>
internal sealed class EntityFrameworkReader(IDbContextFactory<CatalogueContext> contexts, bool isTracking) : IBookReader
{
    public async ValueTask<BookDetails?> FindAsync(int id, CancellationToken cancellation)
    {
        await using var context = await contexts.CreateDbContextAsync(cancellation);
        var books = isTracking ? context.Books : context.Books.AsNoTracking();
        var book = await books.Include(book => book.Author).FirstOrDefaultAsync(book => book.Id == id, cancellation);
        return book is null ? null : BookDetails.Of(book);
    }
}
