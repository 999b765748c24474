using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.OutputCaching;

namespace Cairn.Caching.AspNetCore.Tagging;

// The interface of an output cache's store has a response's tags only when the response is complete, and by then it may have been made of what
// an eviction was about. A policy sees the request before that: it notes the epoch there, and looks at the tags as soon as the response
// is made, so that other requests that wait for this one are not given it either. It enables nothing by itself.
internal sealed class EpochPolicy(CairnOutputCacheStore store) : IOutputCachePolicy
{
    public ValueTask CacheRequestAsync(OutputCacheContext context, CancellationToken cancellation)
    {
        // A request that is executed again, for an error page, was begun when it was begun first.
        IFeatureCollection features = context.HttpContext.Features;
        if (features.Get<RequestEpoch>() is null)
        {
            features.Set(new RequestEpoch(store.Tags.Now()));
        }

        return ValueTask.CompletedTask;
    }

    public ValueTask ServeFromCacheAsync(OutputCacheContext context, CancellationToken cancellation) => ValueTask.CompletedTask;

    public ValueTask ServeResponseAsync(OutputCacheContext context, CancellationToken cancellation)
    {
        if (context.AllowCacheStorage && context.Tags.Count > 0 && context.HttpContext.Features.Get<RequestEpoch>() is { } request)
        {
            foreach (string tag in context.Tags)
            {
                // What cannot be a tag is left to the store, which refuses it.
                if (CairnOutputCacheStore.CanBeTag(tag) && store.Tags.StampFor(tag, request.Begun) == 0)
                {
                    context.AllowCacheStorage = false;
                    store.CountOvertaken();
                    break;
                }
            }
        }

        return ValueTask.CompletedTask;
    }
}
