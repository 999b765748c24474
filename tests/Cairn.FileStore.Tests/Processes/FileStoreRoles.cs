using System.Globalization;
using Cairn.FileStore.Sharing;

namespace Cairn.FileStore.Tests.Processes;

/// <summary>The roles of second processes with a cache file.</summary>
internal static class FileStoreRoles
{
    /// <summary>
    /// Executes one command on each line: "get KEY", "set KEY VALUE", "remove KEY", "clear", "count". Arguments: the directory. With a second argument
    /// the cache only polls.
    /// </summary>
    public static void Answer(string[] args)
    {
        using var cache = new DistributedFileStoreCacheString(CacheFile.Options(args[0], options => options.UsePolling = args.Length > 1));
        Console.WriteLine("ready");
        while (Console.ReadLine() is { } line)
        {
            string[] words = line.Split(' ', 3);
            Console.WriteLine(words[0] switch
            {
                "get" => cache.Get(words[1]) ?? "(none)",
                "set" => Done(() => cache.Set(words[1], words[2])),
                "remove" => Done(() => cache.Remove(words[1])),
                "clear" => Done(() => cache.ClearAll()),
                _ => cache.GetAllKeyValues().Count.ToString(CultureInfo.InvariantCulture),
            });
        }
    }

    /// <summary>Holds a writer's turn until the process is killed. Argument: the side file.</summary>
    public static void HoldTurn(string[] args)
    {
        MappedChannel channel = MappedChannel.TryOpen(args[0], args[0], out _)!;
        channel.Enter(TimeSpan.FromSeconds(10));
        Console.WriteLine("held");
        Console.ReadLine();
    }

    /// <summary>
    /// Sets its own keys in a cycle, then prints the number of failures. Arguments: directory, name, number of sets, number of keys. With a fifth argument
    /// the cache only polls.
    /// </summary>
    public static void WriteMany(string[] args)
    {
        int sets = int.Parse(args[2], CultureInfo.InvariantCulture);
        int keys = int.Parse(args[3], CultureInfo.InvariantCulture);
        using var cache = new DistributedFileStoreCacheString(CacheFile.Options(args[0], options => options.UsePolling = args.Length > 4));
        Console.WriteLine("ready");
        Console.ReadLine();
        int failures = 0;
        for (int i = 0; i < sets; i++)
        {
            try
            {
                string key = string.Create(CultureInfo.InvariantCulture, $"{args[1]}:{i % keys}");
                string value = string.Create(CultureInfo.InvariantCulture, $"value {i}");
                cache.Set(key, value);
                failures += cache.Get(key) == value ? 0 : 1;
            }
            catch (Exception e)
            {
                Console.Error.WriteLine(e);
                failures++;
            }
        }

        Console.WriteLine(failures);
        Console.ReadLine();
    }

    /// <summary>
    /// Sets keys to growing numbers until the process is killed, and prints each acknowledged set. Arguments: directory, name, first number.
    /// </summary>
    public static void WriteForever(string[] args)
    {
        using var cache = new DistributedFileStoreCacheString(CacheFile.Options(args[0]));
        string padding = new('x', 3000);
        Console.WriteLine("ready");
        for (int i = int.Parse(args[2], CultureInfo.InvariantCulture); ; i++)
        {
            string key = string.Create(CultureInfo.InvariantCulture, $"{args[1]}:{i % 50}");
            cache.Set(key, string.Create(CultureInfo.InvariantCulture, $"{i} {padding.AsSpan(0, i * 37 % padding.Length)}"));
            Console.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{key} {i}"));
        }
    }

    private static string Done(Action action)
    {
        action();
        return "done";
    }
}
