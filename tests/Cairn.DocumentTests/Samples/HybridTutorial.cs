using Cairn.Caching;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.DocumentTests.Samples.HybridTutorial
{
    public sealed record Book(int Id, string Title);

    public sealed class Database
    {
        private readonly Dictionary<int, Book> _books = new() { [42] = new Book(42, "Dune"), [43] = new Book(43, "Emma") };

        public async ValueTask<Book> LoadBookAsync(int id, CancellationToken cancellationToken)
        {
            Console.WriteLine($"A query for book {id}.");
            await Task.Delay(30, cancellationToken);
            return _books[id];
        }

        public Task SaveAsync(Book book)
        {
            _books[book.Id] = book;
            return Task.CompletedTask;
        }
    }

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

    /// <summary>The program of the tutorial, from step 3 on.</summary>
    internal static class Shop
    {
        public static Task RunAsync(string[] args)
        {
            var builder = WebApplication.CreateBuilder(args);
            builder.Services.AddSingleton<Database>();
            builder.Services.AddSingleton<Books>();
            builder.Services.AddCairnHybridCache(o => o.UseStoreFile());

            var app = builder.Build();
            app.MapGet("/books/{id}", (int id, Books books, CancellationToken cancellationToken) => books.FindAsync(id, cancellationToken));
            app.MapPut("/books", (Book book, Books books) => books.ChangeAsync(book));
            app.Run();

            return Task.CompletedTask;
        }
    }

    /// <summary>The processes of the tutorial share a book.</summary>
    public sealed class HybridTutorialTests : SampleTest
    {
        private const string Listening = "Now listening on: ";

        [Fact]
        public async Task Second_process_of_the_shop_reads_the_book_that_the_first_has_loaded()
        {
            Environment.SetEnvironmentVariable("XDG_DATA_HOME", Directory.GetCurrentDirectory());
            using var client = new HttpClient();

            using var first = ChildProcess.Start(typeof(Program), "hybrid-shop", "--urls", "http://127.0.0.1:0");
            string read = await client.GetStringAsync(new Uri(AddressOf(first), "books/42"));
            using var second = ChildProcess.Start(typeof(Program), "hybrid-shop", "--urls", "http://127.0.0.1:0");
            Uri address = AddressOf(second);
            string readAgain = await client.GetStringAsync(new Uri(address, "books/42"));
            await client.GetStringAsync(new Uri(address, "books/43"));

            Assert.Equal("""{"id":42,"title":"Dune"}""", read);
            Assert.Equal(read, readAgain);
            Assert.Equal("A query for book 42.", LineWith(first, "A query"));
            Assert.Equal("A query for book 43.", LineWith(second, "A query"));
        }

        private static Uri AddressOf(ChildProcess shop) => new(LineWith(shop, Listening).Split(Listening)[1]);

        private static string LineWith(ChildProcess shop, string words)
        {
            string line = shop.ReadLine();
            while (!line.Contains(words, StringComparison.Ordinal))
            {
                line = shop.ReadLine();
            }

            return line;
        }
    }
}

namespace Cairn.DocumentTests.Samples.HybridTutorial.WhereManyBegin
{
    public sealed class Books(IMemoryCache cache, Database database)
    {
        public async ValueTask<Book> FindAsync(int id, CancellationToken cancellationToken)
        {
            if (!cache.TryGetValue($"book:{id}", out Book? book))
            {
                book = await database.LoadBookAsync(id, cancellationToken);
                cache.Set($"book:{id}", book, TimeSpan.FromMinutes(5));
            }

            return book!;
        }
    }

    /// <summary>The program of the first step.</summary>
    public sealed class FirstStepTests : SampleTest
    {
        [Fact]
        public async Task Book_in_a_memory_cache_is_loaded_once()
        {
            var builder = WebApplication.CreateBuilder();
            builder.Services.AddSingleton<Database>();
            builder.Services.AddSingleton<Books>();
            builder.Services.AddMemoryCache();

            await using WebApplication app = builder.Build();
            Books books = app.Services.GetRequiredService<Books>();
            Assert.Same(await books.FindAsync(42, CancellationToken.None), await books.FindAsync(42, CancellationToken.None));
            Assert.Equal("A query for book 42.\n", Output);
        }
    }
}
