namespace Cairn.Caching.AspNetCore.Tests.Serving;

/// <summary>The application in another process.</summary>
internal static class BookshopRoles
{
    /// <summary>Serves over the store file that the argument names, until the input ends. Prints its address.</summary>
    public static async Task ServeAsync(string[] args)
    {
        await using Bookshop shop = await Bookshop.StartAsync(options =>
        {
            options.Path = args[0];
            options.CapacityBytes = StoreDirectory.SmallCapacityBytes;
            options.FlushOnClose = false;
        });
        Console.WriteLine(shop.Address);
        while (Console.ReadLine() is not null)
        {
        }
    }
}
