using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;

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

namespace Cairn.DocumentTests.Samples.WhereManyBegin
{
    public sealed class Books(IMemoryCache cache, Database database)
    {
        public async Task<Book> FindAsync(int id)
        {
            if (!cache.TryGetValue($"book:{id}", out Book? book))
            {
                book = await database.LoadBookAsync(id);
                cache.Set($"book:{id}", book, TimeSpan.FromMinutes(5));
            }

            return book!;
        }
    }
}

namespace Cairn.DocumentTests.Samples.NothingStale
{
    public sealed class Books(HybridCache cache, Database database)
    {
        public ValueTask<Book> FindAsync(int id, CancellationToken cancellationToken) =>
            cache.GetOrCreateAsync($"book:{id}", (database, id), static (s, token) => s.database.LoadBookAsync(s.id, token),
                tags: ["books"], cancellationToken: cancellationToken);

        public async Task ChangeAsync(Book book)
        {
            await database.SaveAsync(book);
            await cache.RemoveAsync($"book:{book.Id}");
        }
    }
}
