using Bookshop.Books;
using Bookshop.Reading;
using Cairn.Caching.AspNetCore;
using Microsoft.AspNetCore.OutputCaching;

namespace Bookshop.Invalidation;

// A response has no key that says whose book it shows, and /api/books/042 is the response of /api/books/42 once more. So it has three tags, and is
// removed by any of them. A filter adds them: it runs only when a response is made, and hits pay nothing for it.

/// <summary>Keeps whole responses, on the read paths that do.</summary>
internal static class BookResponses
{
    public static void CacheBooks(this RouteHandlerBuilder endpoint, BookshopOptions options)
    {
        // One response for all host names and queries: nothing in it depends on them.
        switch (options.ReadPath)
        {
            case ReadPath.OutputCache:
                endpoint.AddEndpointFilter(AddTagsAsync).CacheOutputInHybrid(output =>
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
                features.Get<IHybridOutputFeature>()?.AddTag(tag);
                features.Get<IOutputCacheFeature>()?.Context.Tags.Add(tag);
            }
        }

        return answer;
    }
}
