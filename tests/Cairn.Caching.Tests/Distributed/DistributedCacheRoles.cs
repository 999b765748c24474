using System.Globalization;
using System.Text;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Tests.Distributed;

/// <summary>Implements child processes that use a distributed cache.</summary>
internal static class DistributedCacheRoles
{
    /// <summary>FILE: performs each line of input ("get KEY", "set KEY TEXT", "remove KEY") and answers it with a line.</summary>
    public static void Use(string[] args)
    {
        using var cache = Open(args[0]);
        Console.WriteLine("ready");
        while (Console.ReadLine() is { } line)
        {
            string[] words = line.Split(' ');
            switch (words[0])
            {
                case "set":
                    cache.Set(words[1], Encoding.UTF8.GetBytes(words[2]));
                    break;
                case "remove":
                    cache.Remove(words[1]);
                    break;
            }

            Console.WriteLine(cache.Get(words[1]) is { } value ? Encoding.UTF8.GetString(value) : "nothing");
        }
    }

    /// <summary>FILE: sets "key:0", "key:1" and so on to their number, and prints each number after it is set, until the process is killed.</summary>
    public static void Fill(string[] args)
    {
        using var cache = Open(args[0]);
        for (int number = 0; ; number++)
        {
            cache.Set(KeyOf(number), ValueOf(number));
            Console.WriteLine(number.ToString(CultureInfo.InvariantCulture));
        }
    }

    public static string KeyOf(int number) => $"key:{number % 1_000}";

    public static byte[] ValueOf(int number) => Encoding.UTF8.GetBytes(number.ToString(CultureInfo.InvariantCulture));

    private static CairnDistributedCache Open(string path) =>
        new(new CairnDistributedCacheOptions { Path = path, CapacityBytes = StoreDirectory.SmallCapacityBytes, FlushOnClose = false });
}
