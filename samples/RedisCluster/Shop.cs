using Microsoft.Extensions.Caching.Hybrid;

namespace RedisCluster;

/// <summary>Finds and renames books. The files in the folder books represent a database that every process can reach.</summary>
internal sealed class Shop(HybridCache cache)
{
    public async Task<string> FindAsync(string id)
    {
        bool isLoaded = false;
        string title = await cache.GetOrCreateAsync(
            $"book:{id}",
            async token =>
            {
                isLoaded = true;
                string file = Path.Combine("books", id);
                return File.Exists(file) ? await File.ReadAllTextAsync(file, token) : "none";
            },
            tags: ["books"]);
        return isLoaded ? $"{title} (from the database)" : $"{title} (from the cache)";
    }

    public async Task<string> RenameAsync(string id, string title)
    {
        Directory.CreateDirectory("books");
        await File.WriteAllTextAsync(Path.Combine("books", id), title);
        await cache.RemoveAsync($"book:{id}");
        return "renamed";
    }
}
