// One shop with three places for its cached books: the process, a file of the machine, a Redis Cluster. The code that reads and changes books
// (Shop.cs) is the same for all three.
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;
using RedisCluster;

var services = new ServiceCollection();
switch (args)
{
    case ["process"]:
        services.AddCairnHybridCache();
        break;

    case ["file", var path]:
        services.AddCairnHybridCache(o => o.UseStoreFile(path));
        break;

    case ["cluster", var servers]:
        services.AddCairnRedis(o =>
        {
            o.Configuration = servers; // Any servers of the cluster. They name the others.
            o.InstanceName = "shop:";
        });
        services.AddCairnHybridCache();
        break;

    default:
        await Console.Error.WriteLineAsync("usage: RedisCluster process | file FILE | cluster HOST:PORT[,HOST:PORT...]");
        return 2;
}

await using var provider = services.BuildServiceProvider();
var shop = new Shop(provider.GetRequiredService<HybridCache>());
while (Console.ReadLine() is { } line)
{
    Console.WriteLine(line.Split(' ', 3) switch
    {
        ["find", var id] => await shop.FindAsync(id),
        ["rename", var id, var title] => await shop.RenameAsync(id, title),
        _ => "find ID, or rename ID TITLE",
    });
}

return 0;
