// Answers with prices that another program keeps in a cache. If a price is missing, one process looks it up for all of them.
using Cairn;

if (args is not [var path, ..])
{
    Console.Error.WriteLine("usage: Consumer FILE KEY...");
    return 2;
}

try
{
    using var store = CairnStore.Open(new StoreOptions { Path = path, CapacityBytes = 16 << 20 });
    CairnCollection prices = store.DefaultCollection;
    foreach (string key in args[1..])
    {
        Console.WriteLine($"{key}: {Find(prices, key)}");
    }

    return 0;
}
catch (Exception e) when (e is StoreException or IOException or UnauthorizedAccessException)
{
    Console.Error.WriteLine(e.Message); // The message names the file and says how to correct the problem.
    return 1;
}

static string Find(CairnCollection prices, string key)
{
    switch (prices.AcquireLease(key, wait: TimeSpan.FromSeconds(5), out StoreLease? lease))
    {
        case LeaseStatus.Hit:
            return prices.GetString(key) ?? Find(prices, key); // The value can disappear between the two calls: a cache may lose an entry.

        case LeaseStatus.Acquired:
            using (lease)
            {
                string price = LookUp(key);
                lease!.TrySet(System.Text.Encoding.UTF8.GetBytes(price), TimeSpan.FromSeconds(30));
                return price;
            }

        default: // Another process holds the lease for too long.
            return LookUp(key);
    }
}

// Represents a slow service.
static string LookUp(string key)
{
    Console.WriteLine($"(looking {key} up)");
    return "unknown";
}
