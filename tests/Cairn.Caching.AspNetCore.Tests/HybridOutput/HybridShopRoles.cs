namespace Cairn.Caching.AspNetCore.Tests.HybridOutput;

/// <summary>The application over a store file, which can also run in another process.</summary>
internal static class HybridShopRoles
{
    public static Task<HybridShop> StartAsync(string file) => HybridShop.StartAsync(
        cache => cache.UseStoreFile(file, store =>
        {
            store.CapacityBytes = StoreDirectory.SmallCapacityBytes;
            store.FlushOnClose = false;
        }),
        isEarly: true);

    /// <summary>Serves over the store file that the argument names, until the input ends. Prints its address.</summary>
    public static async Task ServeAsync(string[] args)
    {
        await using HybridShop shop = await StartAsync(args[0]);
        Console.WriteLine(shop.Client.BaseAddress);
        while (Console.ReadLine() is not null)
        {
        }
    }
}
