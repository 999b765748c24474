namespace Bookshop.Reading;

/// <summary>The ways in which GET /api/books/{id} can read a book.</summary>
internal enum ReadPath
{
    /// <summary>Entity Framework Core with its default of tracked entities.</summary>
    EntityFramework,

    /// <summary>Entity Framework Core without tracking.</summary>
    EntityFrameworkNoTracking,

    /// <summary>A handwritten query.</summary>
    Dapper,

    /// <summary>Cairn's hybrid cache in the memory of this process only.</summary>
    Hybrid,

    /// <summary>The hybrid cache over a store file, which the processes of this machine share.</summary>
    HybridStore,

    /// <summary>The hybrid cache over Redis, which several machines share.</summary>
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

    /// <exception cref="BookshopSetupException">No path has this name.</exception>
    public static ReadPath Parse(string name) => Known.TryGetValue(name, out var path)
        ? path
        : throw new BookshopSetupException($"Bookshop:ReadPath is '{name}'; it takes {string.Join(", ", Names)}.");

    public static string NameOf(ReadPath path) => Known.First(known => known.Value == path).Key;

    public static bool IsHybrid(this ReadPath path) => path is ReadPath.Hybrid or ReadPath.HybridStore or ReadPath.HybridRedis;

    /// <summary>Returns whether the path caches something that a change has to remove.</summary>
    public static bool IsCached(this ReadPath path) => path.IsHybrid() || path is ReadPath.OutputCache or ReadPath.OutputCacheMiddleware;
}
