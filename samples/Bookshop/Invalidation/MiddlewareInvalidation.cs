using Microsoft.AspNetCore.OutputCaching;

namespace Bookshop.Invalidation;

/// <summary>Removes responses from the output caching of ASP.NET Core.</summary>
internal sealed class MiddlewareInvalidation(IOutputCacheStore responses) : ICatalogueInvalidation
{
    public ValueTask BookChangedAsync(int id) => responses.EvictByTagAsync(CacheTags.Book(id), CancellationToken.None);

    public ValueTask AuthorChangedAsync(int id) => responses.EvictByTagAsync(CacheTags.Author(id), CancellationToken.None);

    public ValueTask AnythingChangedAsync() => responses.EvictByTagAsync(CacheTags.Everything, CancellationToken.None);
}
