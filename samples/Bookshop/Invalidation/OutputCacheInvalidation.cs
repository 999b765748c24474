using Microsoft.AspNetCore.OutputCaching;

namespace Bookshop.Invalidation;

/// <summary>Responses have no key that an application knows: all are removed by their tags.</summary>
internal sealed class OutputCacheInvalidation(IOutputCacheStore responses) : ICatalogueInvalidation
{
    public ValueTask BookChangedAsync(int id) => responses.EvictByTagAsync(CacheTags.Book(id), CancellationToken.None);

    public ValueTask AuthorChangedAsync(int id) => responses.EvictByTagAsync(CacheTags.Author(id), CancellationToken.None);

    public ValueTask AnythingChangedAsync() => responses.EvictByTagAsync(CacheTags.Everything, CancellationToken.None);
}
