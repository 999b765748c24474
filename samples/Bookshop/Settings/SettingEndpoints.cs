using Cairn.FileStore;
using Microsoft.AspNetCore.Http.HttpResults;

namespace Bookshop.Settings;

/// <summary>
/// The page /settings lists the entries of a JSON file and adds to them. It calls /api/settings. A person may also edit the file, and every process
/// of the shop sees the change.
/// </summary>
internal static class SettingEndpoints
{
    private const string Page = "Settings.html";

    public static void AddSettings(this IServiceCollection services, BookshopOptions options, IHostEnvironment environment) =>
        services.AddDistributedFileStoreCache(
            file =>
            {
                file.PathToCacheFileDirectory = options.SettingsFolder;
                file.FirstPartOfCacheFileName = "settings";
            },
            environment);

    public static void MapSettings(this IEndpointRouteBuilder routes)
    {
        var page = ReadPage();
        routes.MapGet("/settings", () => TypedResults.Content(page, "text/html; charset=utf-8")).ExcludeFromDescription();

        var settings = routes.MapGroup("/api/settings").WithTags("Settings");
        settings.MapGet("/", (IDistributedFileStoreCacheString file) => file.GetAllKeyValues()).WithSummary("All settings");

        // The endpoint accepts only JSON. A browser sends a form of another site without a preflight request, but not JSON.
        settings.MapPost("/", SetAsync).WithSummary("Sets one");
    }

    private static async Task<NoContent> SetAsync(SettingInput setting, IDistributedFileStoreCacheString file, CancellationToken cancellation)
    {
        await file.SetAsync(setting.Key, setting.Value, token: cancellation);
        return TypedResults.NoContent();
    }

    private static string ReadPage()
    {
        using var reader = new StreamReader(typeof(SettingEndpoints).Assembly.GetManifestResourceStream(Page)!);
        return reader.ReadToEnd();
    }
}
