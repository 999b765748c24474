using System.Globalization;
using Microsoft.AspNetCore.OutputCaching;

namespace Bookshop.Invalidation;

/// <summary>Tags the response that has a book with what the request says of it; whose book it is, FoundBook adds.</summary>
internal sealed class BookResponsePolicy : IOutputCachePolicy
{
    public ValueTask CacheRequestAsync(OutputCacheContext context, CancellationToken cancellation) => ValueTask.CompletedTask;

    public ValueTask ServeFromCacheAsync(OutputCacheContext context, CancellationToken cancellation) => ValueTask.CompletedTask;

    // Only a response that was made comes here, so that hits pay nothing for the tags.
    public ValueTask ServeResponseAsync(OutputCacheContext context, CancellationToken cancellation)
    {
        context.Tags.Add(CacheTags.Everything);
        if (int.TryParse((string?)context.HttpContext.Request.RouteValues["id"], NumberStyles.None, CultureInfo.InvariantCulture, out var id))
        {
            context.Tags.Add(CacheTags.Book(id));
        }

        return ValueTask.CompletedTask;
    }
}
