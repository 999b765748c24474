using System.Security.Cryptography;

namespace Cairn.DocumentTests.Samples;

/// <summary>The store: the README, the tutorial's short samples, encryption, kept collections, backups.</summary>
public sealed class StoreSamples : SampleTest
{
    [Fact]
    public void First_of_the_readme()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
        store.DefaultCollection.Set("book:42"u8, "Dune"u8, TimeSpan.FromMinutes(5));

        Console.WriteLine(store.DefaultCollection.GetString("book:42"));

        Assert.Equal("Dune\n", Output);
    }

    [Fact]
    public void Use_from_dotnet_in_the_readme()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
        store.DefaultCollection.Set("book:42", "Dune"u8);
        byte[] token = [1, 2, 3];
        string? shown = null;

        CairnCollection cache = store.DefaultCollection;

        // Copied into your memory: nothing is allocated.
        Span<byte> buffer = stackalloc byte[256];
        if (cache.TryGet("book:42", buffer, out int bytesWritten))
        {
            Show(buffer[..bytesWritten]);
        }

        // One of many processes computes a missing value, the others wait for it.
        if (cache.AcquireLease("book:43", TimeSpan.FromSeconds(2), out StoreLease? lease) == LeaseStatus.Acquired)
        {
            using (lease)
            {
                lease!.TrySet(LoadBook(43), TimeSpan.FromMinutes(5));
            }
        }

        // Other collections share the file, with expirations of their own, and are cleared at once.
        CairnCollection sessions = store.Collection("sessions");
        sessions.Set("alice", token, Expiration.Sliding(TimeSpan.FromMinutes(20)));
        sessions.Clear();

        Assert.Equal("Dune", shown);
        Assert.Equal("Emma", cache.GetString("book:43"));
        Assert.False(sessions.Contains("alice"));

        void Show(ReadOnlySpan<byte> bytes) => shown = System.Text.Encoding.UTF8.GetString(bytes);

        static ReadOnlySpan<byte> LoadBook(int id) => id == 43 ? "Emma"u8 : "none"u8;
    }

    [Fact]
    public void Reading_into_memory_of_the_caller()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
        CairnCollection cache = store.DefaultCollection;
        cache.Set("book:42", "Dune"u8);

        Span<byte> buffer = stackalloc byte[100];
        if (cache.TryGet("book:42", buffer, out int bytesWritten))
        {
            Console.WriteLine($"{bytesWritten} bytes");
        }

        Assert.Equal("4 bytes\n", Output);
    }

    [Fact]
    public void Collection_of_sessions()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });

        CairnCollection sessions = store.Collection(
            "sessions", new CollectionOptions { DefaultExpiration = Expiration.Sliding(TimeSpan.FromMinutes(20)) });

        sessions.Set("ada", "logged in"u8);    // Gone 20 minutes after it was last read.
        Console.WriteLine(sessions.GetString("ada"));
        sessions.Clear();
        Console.WriteLine(sessions.GetString("ada") ?? "logged out");

        Assert.Equal("logged in\nlogged out\n", Output);
    }

    [Fact]
    public void Encrypted_store()
    {
        byte[] key = RandomNumberGenerator.GetBytes(32);

        using var store = CairnStore.Open(new StoreOptions
        {
            Path = "customers.cairn",
            Encryption = StoreEncryption.FromKey(key), // 32 random bytes, from your secret store.
        });
        store.DefaultCollection.Set("customer:42", "Ada"u8);

        Assert.Equal("Ada", store.DefaultCollection.GetString("customer:42"));
    }

    [Fact]
    public void Kept_collection()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "shop.cairn", CapacityBytes = 1L << 30 });
        byte[] value = [1], html = [2];
        const string key = "account:43";

        CairnCollection accounts = store.Collection("accounts", new CollectionOptions
        {
            Region = StoreRegion.Keep,
            BudgetBytes = 512 << 20,
        });

        accounts.Set("account:42", value);             // Stays until it is removed, replaced, cleared, or expires.
        store.DefaultCollection.Set("page:42", html);  // May be evicted, also to make room for accounts.

        try
        {
            accounts.Set(key, value);
        }
        catch (StoreFullException)
        {
            // The budget of the collection, the file, or its index is full; the message says which. Nothing has changed.
        }

        Assert.True(accounts.Contains("account:42"));
        Assert.True(accounts.Contains(key));
        Assert.True(store.DefaultCollection.Contains("page:42"));
    }

    [Fact]
    public void Backup_of_a_store()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
        store.DefaultCollection.Set("book:42", "Dune"u8);

        BackupReport report = store.Backup("books.backup");

        Assert.Equal(1, report.Entries);
    }
}
