using System.Text;

namespace Cairn.DocumentTests.Samples;

/// <summary>The programs of the tutorial. Each of them is a process of its own.</summary>
internal static class TutorialPrograms
{
    public static void FindOrStore()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
        CairnCollection cache = store.DefaultCollection;

        if (cache.GetString("book:42") is { } title)
        {
            Console.WriteLine($"Found {title}.");
        }
        else
        {
            cache.Set("book:42", "Dune"u8, TimeSpan.FromMinutes(5));
            Console.WriteLine("Stored. Run me again.");
        }
    }

    public static async Task ShopAsync(string[] args)
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
        CairnCollection cache = store.DefaultCollection;

        switch (args)
        {
            case ["sell", var seller]:
                while (true)
                {
                    cache.Increment("sold:42", 1, out long sold, initialValue: 1);
                    Console.WriteLine($"{seller} sold number {sold}.");
                    await Task.Delay(500);
                }

            case ["watch"]:
                string? last = null;
                while (true)
                {
                    string? sold = cache.GetString("sold:42");
                    if (sold != last)
                    {
                        Console.WriteLine($"{sold} sold.");
                        last = sold;
                    }

                    await Task.Delay(50);
                }

            default:
                Console.WriteLine("sell NAME, or watch");
                break;
        }
    }

    public static Task ReviewAsync(string[] args)
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
        CairnCollection cache = store.DefaultCollection;

        Console.WriteLine($"{args[0]} reads: {ReadReview(args[0])}");

        string ReadReview(string reader)
        {
            switch (cache.AcquireLease("review:42", wait: TimeSpan.FromSeconds(10), out StoreLease? lease))
            {
                case LeaseStatus.Hit:
                    return cache.GetString("review:42") ?? ReadReview(reader);

                case LeaseStatus.Acquired:
                    using (lease)
                    {
                        string review = Write(reader);
                        lease!.TrySet(Encoding.UTF8.GetBytes(review), TimeSpan.FromSeconds(20));
                        return review;
                    }

                default: // Another caller computes for too long, or the store cannot be written to.
                    return Write(reader);
            }
        }

        static string Write(string reader)
        {
            Console.WriteLine($"{reader} writes a review, which takes a while.");
            Thread.Sleep(3000);
            return $"Sand, by {reader}";
        }

        return Task.CompletedTask;
    }

    public static async Task TitlesAsync()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
        var titles = new TitleCache(store);

        for (int i = 0; i < 10; i++)
        {
            Console.WriteLine(titles.Get("book:42") ?? "none");
            await Task.Delay(1000);
        }
    }
}
