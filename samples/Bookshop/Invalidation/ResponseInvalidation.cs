using Cairn.Caching;

namespace Bookshop.Invalidation;

/// <summary>Removes responses from the hybrid cache by their tags (BookResponses).</summary>
internal sealed class ResponseInvalidation(CairnHybridCache cache) : ICatalogueInvalidation
{
    public ValueTask BookChangedAsync(int id) => cache.RemoveByTagAsync(CacheTags.Book(id));

    public ValueTask AuthorChangedAsync(int id) => cache.RemoveByTagAsync(CacheTags.Author(id));

    public ValueTask AnythingChangedAsync() => cache.RemoveByTagAsync(CacheTags.Everything);
}
