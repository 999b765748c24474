using Microsoft.AspNetCore.OutputCaching;

namespace Bookshop.Invalidation;

/// <summary>Removes responses that ASP.NET Core's output caching keeps.</summary>
internal sealed class MiddlewareInvalidation(IOutputCacheStore responses) : ICatalogueInvalidation
{
    public ValueTask BookChangedAsync(int id) => responses.EvictByTagAsync(CacheTags.Book(id), CancellationToken.None);

    public ValueTask AuthorChangedAsync(int id) => responses.EvictByTagAsync(CacheTags.Author(id), CancellationToken.None);

    public ValueTask AnythingChangedAsync() => responses.EvictByTagAsync(CacheTags.Everything, CancellationToken.None);
}
