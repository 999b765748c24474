// Fills a cache that another program reads. Standard input has one price on each line, as "KEY VALUE".
using Cairn;

if (args is not [var path])
{
    Console.Error.WriteLine("usage: Producer FILE");
    return 2;
}

try
{
    using var store = CairnStore.Open(new StoreOptions { Path = path, CapacityBytes = 16 << 20 });
    CairnCollection prices = store.DefaultCollection;
    while (Console.ReadLine() is { } line)
    {
        if (line.Split(' ', 2) is not [{ Length: > 0 } key, var value])
        {
            Console.Error.WriteLine($"Not \"KEY VALUE\": {line}");
            continue;
        }

        prices.Set(key, System.Text.Encoding.UTF8.GetBytes(value), TimeSpan.FromMinutes(5));
        Console.WriteLine($"stored {key}");
    }

    return 0;
}
catch (Exception e) when (e is StoreException or IOException or UnauthorizedAccessException)
{
    Console.Error.WriteLine(e.Message); // The message names the file and says how to correct the problem.
    return 1;
}
