using Cairn.Caching.AspNetCore.Tagging;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.OutputCaching;

namespace Cairn.Caching.AspNetCore.Policies;

// An output cache store receives the tags of a response only when the response is complete. By then, a tag may have been evicted after the
// endpoint read its data. A policy sees the request earlier: it records the epoch there. It also checks the tags as soon as the response is
// made, so that other requests that wait for it do not receive it either. The policy does not enable caching.
internal sealed class EpochPolicy(CairnOutputCacheStore store) : IOutputCachePolicy
{
    private const string KeyPart = "cairn-epoch";

    private readonly ResponsesBeingSent _sent = new();

    public ValueTask CacheRequestAsync(OutputCacheContext context, CancellationToken cancellation)
    {
        // A request that is executed again, such as for an error page, keeps its first epoch.
        IFeatureCollection features = context.HttpContext.Features;
        RequestEpoch? request = features.Get<RequestEpoch>();
        if (request is null)
        {
            Epoch begun = store.Tags.Now();
            request = new RequestEpoch(begun, _sent.HasOther(PathOf(context), begun));
            features.Set(request);
        }

        if (request.IsApart)
        {
            // Requests of one epoch still share one response.
            context.CacheVaryByRules.VaryByValues[KeyPart] =
                string.Create(CultureInfo.InvariantCulture, $"{request.Begun.Lineage}.{request.Begun.Count}");
        }

        return ValueTask.CompletedTask;
    }

    public ValueTask ServeFromCacheAsync(OutputCacheContext context, CancellationToken cancellation) => ValueTask.CompletedTask;

    public ValueTask ServeResponseAsync(OutputCacheContext context, CancellationToken cancellation)
    {
        if (context.AllowCacheStorage && context.Tags.Count > 0 && context.HttpContext.Features.Get<RequestEpoch>() is { } request)
        {
            Action withdraw = Announce(context.HttpContext.Response, PathOf(context), request.Begun);
            foreach (string tag in context.Tags)
            {
                // The store rejects text that cannot be a tag.
                if (CairnOutputCacheStore.CanBeTag(tag) && store.Tags.StampFor(tag, request.Begun) == 0)
                {
                    context.AllowCacheStorage = false;
                    store.CountOvertaken();
                    withdraw();
                    break;
                }
            }
        }

        return ValueTask.CompletedTask;
    }

    private static string PathOf(OutputCacheContext context) => context.HttpContext.Request.Path.Value ?? "";

    // Returns the action that removes the response before it is complete. The callback is registered first: a response that is added is also removed.
    private Action Announce(HttpResponse response, string path, Epoch begun)
    {
        bool isAdded = false;
        response.OnCompleted(() =>
        {
            Withdraw();
            return Task.CompletedTask;
        });
        _sent.Add(path, begun);
        isAdded = true;
        return Withdraw;

        // One request runs both calls, one after the other.
        void Withdraw()
        {
            if (isAdded)
            {
                isAdded = false;
                _sent.Remove(path);
            }
        }
    }
}
