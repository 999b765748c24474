using Cairn.Caching;

namespace Bookshop.Invalidation;

/// <summary>A book is removed by its key, an author's books by their tag.</summary>
internal sealed class HybridInvalidation(CairnHybridCache cache) : ICatalogueInvalidation
{
    public ValueTask BookChangedAsync(int id) => cache.RemoveAsync(CacheTags.Book(id));

    public ValueTask AuthorChangedAsync(int id) => cache.RemoveByTagAsync(CacheTags.Author(id));

    public ValueTask AnythingChangedAsync() => cache.RemoveByTagAsync(CacheTags.Everything);
}
