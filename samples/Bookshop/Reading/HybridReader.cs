using Bookshop.Books;
using Bookshop.Invalidation;
using Cairn.Caching;

namespace Bookshop.Reading;

// A hit is one lookup in a table of this process. A miss looks into the second level, if one exists, and then loads the book. All requests in all
// processes share one load. If the book changes meanwhile, the loaded book does not enter the cache.
//
// A missing book is cached too, so that requests for unknown books cannot overload the database.

/// <summary>Reads through the hybrid cache, with any second level.</summary>
internal sealed class HybridReader(CairnHybridCache cache, IBookReader source) : IBookReader
{
    private static readonly string[] BookTags = [CacheTags.Everything];

    public ValueTask<BookDetails?> FindAsync(int id, CancellationToken cancellation) => cache.GetOrCreateAsync<(IBookReader, int), BookDetails?>(
        CacheTags.Book(id),
        (source, id),
        static async (state, context, token) =>
        {
            var (source, id) = state;
            var book = await source.FindAsync(id, token);
            if (book is not null)
            {
                // The cached book contains the author's name. The author is known only now.
                context.AddTag(CacheTags.Author(book.Author.Id));
            }

            return book;
        },
        tags: BookTags,
        cancellationToken: cancellation);
}
