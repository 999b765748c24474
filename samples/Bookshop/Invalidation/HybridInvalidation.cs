using Cairn.Caching;

namespace Bookshop.Invalidation;

/// <summary>Removes a book by its key, and the books of an author by their tag.</summary>
internal sealed class HybridInvalidation(CairnHybridCache cache) : ICatalogueInvalidation
{
    public ValueTask BookChangedAsync(int id) => cache.RemoveAsync(CacheTags.Book(id));

    public ValueTask AuthorChangedAsync(int id) => cache.RemoveByTagAsync(CacheTags.Author(id));

    public ValueTask AnythingChangedAsync() => cache.RemoveByTagAsync(CacheTags.Everything);
}
