using Microsoft.AspNetCore.Http;

namespace Cairn.Caching.AspNetCore.HybridOutput;

/// <summary>Sends a kept response that depends only on the path, before routing.</summary>
internal sealed class EarlyAnswer(RequestDelegate next, CairnHybridCache cache, TimeProvider clock)
{
    public Task InvokeAsync(HttpContext context)
    {
        HttpRequest request = context.Request;
        return HttpMethods.IsGet(request.Method)
            && !request.QueryString.HasValue
            && ResponseKey.OfPath(request) is { } key
            && cache.TryGet(key, out KeptResponse? kept)
            && kept is { IsAnsweredEarly: true }
            && ResponsePolicy.IsForAll(context)
                ? kept.SendAsync(context, clock)
                : next(context);
    }
}
