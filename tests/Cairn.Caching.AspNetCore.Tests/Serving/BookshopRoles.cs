namespace Cairn.Caching.AspNetCore.Tests.Serving;

/// <summary>The application in another process.</summary>
internal static class BookshopRoles
{
    /// <summary>FILE: serves over a store file until the input ends; says its address.</summary>
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
