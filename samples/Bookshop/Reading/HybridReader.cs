using Bookshop.Books;
using Bookshop.Invalidation;
using Cairn.Caching;

namespace Bookshop.Reading;

// A hit is a look into a table of this process. A miss looks into the second level, if there is one, and then loads the book once, however
// many ask for it and in however many processes; a change that is made meanwhile keeps what was loaded out of the cache.
//
// A missing book is cached, too, so that requests for unknown books cannot overload the database.

/// <summary>Reads through the hybrid cache, whatever its levels are.</summary>
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
                // The author's name is part of what is cached, and who the author is, is known only now.
                context.AddTag(CacheTags.Author(book.Author.Id));
            }

            return book;
        },
        tags: BookTags,
        cancellationToken: cancellation);
}
