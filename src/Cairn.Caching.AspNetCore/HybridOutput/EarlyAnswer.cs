using Microsoft.AspNetCore.Http;

namespace Cairn.Caching.AspNetCore.HybridOutput;

/// <summary>Answers with a kept response for which only the path matters, before anybody has looked for the endpoint.</summary>
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
