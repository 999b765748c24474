using System.Net.Mime;
using Cairn.Server;
using Cairn.Server.Logging;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;

namespace Cairn.Dashboard.Serving;

/// <summary>Serves metrics and health to other programs.</summary>
internal static class ProbePages
{
    private static readonly string[] s_reading = [HttpMethods.Get, HttpMethods.Head];

    /// <summary>Maps all pages.</summary>
    public static void Map(WebApplication application, ServerInsight server)
    {
        application.Use((context, next) => ShieldAsync(context, next, server));
        application.UseRouting();
        MapPage(application, "/metrics", context => WriteMetricsAsync(context, server));
        MapPage(application, "/health/live", context => WriteAsync(context, StatusCodes.Status200OK, "live\n"));
        MapPage(application, "/health/ready", context => WriteReadyAsync(context, server));
    }

    private static void MapPage(IEndpointRouteBuilder routes, string path, RequestDelegate page) => routes.MapMethods(path, s_reading, page);

    private static async Task ShieldAsync(HttpContext context, RequestDelegate next, ServerInsight server)
    {
        context.Response.Headers.CacheControl = "no-store";
        context.Response.Headers.XContentTypeOptions = "nosniff";
        try
        {
            await next(context).ConfigureAwait(false);
        }
        catch (Exception e) when (!context.RequestAborted.IsCancellationRequested && !context.Response.HasStarted)
        {
            server.Logger.Write(LogLevel.Error, $"The page {context.Request.Path} failed: {e}");
            await WriteAsync(context, StatusCodes.Status500InternalServerError, "failed; the server's log tells more\n").ConfigureAwait(false);
        }
    }

    private static Task WriteMetricsAsync(HttpContext context, ServerInsight server)
    {
        var body = new System.Buffers.ArrayBufferWriter<byte>(32 << 10);
        server.WriteMetrics(body);
        context.Response.ContentType = ServerInsight.MetricsContentType;
        context.Response.ContentLength = body.WrittenCount;
        return context.Response.Body.WriteAsync(body.WrittenMemory, context.RequestAborted).AsTask();
    }

    private static Task WriteReadyAsync(HttpContext context, ServerInsight server)
    {
        ServerHealth health = server.GetHealth();
        return WriteAsync(
            context, health.IsReady ? StatusCodes.Status200OK : StatusCodes.Status503ServiceUnavailable, health.Reason + "\n");
    }

    private static Task WriteAsync(HttpContext context, int status, string text)
    {
        byte[] body = Encoding.UTF8.GetBytes(text);
        context.Response.StatusCode = status;
        context.Response.ContentType = $"{MediaTypeNames.Text.Plain}; charset=utf-8";
        context.Response.ContentLength = body.Length;
        return context.Response.Body.WriteAsync(body, context.RequestAborted).AsTask();
    }
}
