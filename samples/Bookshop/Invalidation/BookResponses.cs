using Bookshop.Books;
using Bookshop.Reading;
using Cairn.Caching.AspNetCore;
using Microsoft.AspNetCore.OutputCaching;

namespace Bookshop.Invalidation;

// The key of a response does not name the book: /api/books/042 and /api/books/42 have two responses for the same book. So a response has three tags,
// and each of them can remove it. A filter adds the tags. The filter runs only when a response is created, so hits do not pay for it.

/// <summary>Configures the caching of whole responses for the read paths that use it.</summary>
internal static class BookResponses
{
    public static void CacheBooks(this RouteHandlerBuilder endpoint, BookshopOptions options)
    {
        // All host names and queries share one response, because it does not depend on them.
        switch (options.ReadPath)
        {
            case ReadPath.OutputCache:
                endpoint.AddEndpointFilter(AddTagsAsync).CacheOutputInCairnHybrid(output =>
                {
                    output.Expiration = options.CacheFor;
                    output.VaryByHost = false;
                    output.VaryByQuery = [];
                });
                break;
            case ReadPath.OutputCacheMiddleware:
                endpoint.AddEndpointFilter(AddTagsAsync)
                    .CacheOutput(policy => policy.Expire(options.CacheFor).SetVaryByHost(false).SetVaryByQuery([]));
                break;
        }
    }

    private static async ValueTask<object?> AddTagsAsync(EndpointFilterInvocationContext invocation, EndpointFilterDelegate next)
    {
        var answer = await next(invocation);
        if (answer is FoundBook { Book: var book })
        {
            var features = invocation.HttpContext.Features;
            foreach (var tag in (string[])[CacheTags.Everything, CacheTags.Book(book.Id), CacheTags.Author(book.Author.Id)])
            {
                features.Get<ICairnHybridOutputFeature>()?.AddTag(tag);
                features.Get<IOutputCacheFeature>()?.Context.Tags.Add(tag);
            }
        }

        return answer;
    }
}
