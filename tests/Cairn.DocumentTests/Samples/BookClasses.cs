using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.DocumentTests.Samples
{
    public sealed class Covers(IDistributedCache cache)
    {
        public byte[]? Find(string isbn) => cache.Get($"cover:{isbn}");

        public void Keep(string isbn, byte[] image) =>
            cache.Set($"cover:{isbn}", image, new DistributedCacheEntryOptions { SlidingExpiration = TimeSpan.FromHours(1) });
    }
}

namespace Cairn.DocumentTests.Samples.ReadmeOfCaching
{
    public sealed class Books(HybridCache cache, Database database)
    {
        public ValueTask<Book> FindAsync(int id) =>
            cache.GetOrCreateAsync($"book:{id}", token => database.LoadBookAsync(id, token), tags: ["books"]);
    }
}
