using Microsoft.AspNetCore.Http;

namespace Cairn.Caching.AspNetCore.HybridOutput;

/// <summary>An endpoint whose responses are kept in the hybrid cache.</summary>
internal sealed class CachedEndpoint(RequestDelegate endpoint, ResponsePolicy policy, CairnHybridCache cache, TimeProvider clock)
{
    public Task InvokeAsync(HttpContext context)
    {
        HttpRequest request = context.Request;
        bool isHead = HttpMethods.IsHead(request.Method);
        if ((!isHead && !HttpMethods.IsGet(request.Method)) || !ResponsePolicy.IsForAll(context) || ResponseKey.Of(context, policy) is not { } key)
        {
            return endpoint(context);
        }

        return cache.TryGet(key, out KeptResponse? kept) && kept is not null
            ? kept.SendAsync(context, clock)
            : isHead ? endpoint(context) // A HEAD response has no body, so it cannot serve a GET.
            : MakeAsync(context, key);
    }

    // The endpoint runs in this request, or in an earlier one for the same key that has not ended. It runs with the HttpContext of that
    // request, which must wait until the endpoint has ended. So no request is cancelled here when its client disconnects.
    private async Task MakeAsync(HttpContext context, string key)
    {
        var making = new ResponseMaking(context, endpoint, policy, clock);
        KeptResponse? kept = await cache.GetOrCreateAsync<ResponseMaking, KeptResponse?>(
            key, making, static (making, entry, stopping) => making.RunAsync(entry, stopping), policy.Entry, policy.Tags, CancellationToken.None)
            .ConfigureAwait(false);
        if (making.IsAnswered)
        {
            return;
        }

        // Null: another request ran the endpoint, and its response may not be shared.
        await (kept is null ? endpoint(context) : kept.SendAsync(context, clock)).ConfigureAwait(false);
    }
}
