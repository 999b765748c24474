namespace Bookshop.Reading;

/// <summary>How GET /api/books/{id} comes by its book.</summary>
internal enum ReadPath
{
    /// <summary>Entity Framework Core as most begin with it: entities that are tracked.</summary>
    EntityFramework,

    /// <summary>The same without tracking.</summary>
    EntityFrameworkNoTracking,

    /// <summary>A query written by hand.</summary>
    Dapper,

    /// <summary>Cairn's hybrid cache, in the memory of this process alone.</summary>
    Hybrid,

    /// <summary>The hybrid cache over a store file, which processes of this machine share.</summary>
    HybridStore,

    /// <summary>The hybrid cache over Redis, which machines share.</summary>
    HybridRedis,

    /// <summary>Whole responses in the hybrid cache, over a store file.</summary>
    OutputCache,

    /// <summary>ASP.NET Core's output caching, with the responses in a store file.</summary>
    OutputCacheMiddleware,
}

/// <summary>The names of read paths in the configuration.</summary>
internal static class ReadPaths
{
    private static readonly Dictionary<string, ReadPath> Known = new(StringComparer.OrdinalIgnoreCase)
    {
        ["ef"] = ReadPath.EntityFramework,
        ["ef-notracking"] = ReadPath.EntityFrameworkNoTracking,
        ["dapper"] = ReadPath.Dapper,
        ["hybrid"] = ReadPath.Hybrid,
        ["hybrid+store"] = ReadPath.HybridStore,
        ["hybrid+redis"] = ReadPath.HybridRedis,
        ["output-cache"] = ReadPath.OutputCache,
        ["output-cache-middleware"] = ReadPath.OutputCacheMiddleware,
    };

    public static IEnumerable<string> Names => Known.Keys;

    /// <exception cref="BookshopSetupException">There is no path of that name.</exception>
    public static ReadPath Parse(string name) => Known.TryGetValue(name, out var path)
        ? path
        : throw new BookshopSetupException($"Bookshop:ReadPath is '{name}'; it takes {string.Join(", ", Names)}.");

    public static string NameOf(ReadPath path) => Known.First(known => known.Value == path).Key;

    public static bool IsHybrid(this ReadPath path) => path is ReadPath.Hybrid or ReadPath.HybridStore or ReadPath.HybridRedis;

    /// <summary>Whether something is kept that a change has to remove.</summary>
    public static bool IsCached(this ReadPath path) => path.IsHybrid() || path is ReadPath.OutputCache or ReadPath.OutputCacheMiddleware;
}
