using System.Globalization;
using System.Runtime.InteropServices;
using Cairn.WriteAhead;

namespace Cairn.Tests.Maps;

/// <summary>Implements the roles of child processes in tests of maps.</summary>
internal static class MapRoles
{
    /// <summary>PATH: opens a map of text to numbers, prints "opened", and performs each line of input: put KEY NUMBER, get KEY, add KEY TIMES,
    /// remove KEY, count.</summary>
    public static void HoldMap(string[] args)
    {
        using PersistentMap<string, int> map = PersistentMap.Open(OptionsFor(args[0]), PersistentMapTests.Kept<string, int>());
        Console.WriteLine("opened");
        while (Console.ReadLine() is { } line)
        {
            string[] words = line.Split(' ');
            Console.WriteLine(words switch
            {
                ["put", var key, var number] => $"{map[key] = int.Parse(number, CultureInfo.InvariantCulture)}",
                ["get", var key] => map.TryGet(key, out int value) ? $"{value}" : "none",
                ["add", var key, var times] => $"{Add(map, key, int.Parse(times, CultureInfo.InvariantCulture))}",
                ["remove", var key] => $"{map.Remove(key)}",
                _ => $"{map.Count}",
            });
        }
    }

    /// <summary>
    /// PATH WAY [busy]: opens a map of numbers, puts one and prints "ready". With "busy", threads write to the map all the time. The process ends without
    /// closing the map: by return, exit or throw, or it waits until it is ended. With "go-on", it continues when it is asked to end. It then puts
    /// another number and returns. With "background", the map has the default durability, but an hour passes before the log is flushed in the background.
    /// </summary>
    public static void EndWithMap(string[] args)
    {
        bool isInBackground = args is [_, _, "background"];
        if (isInBackground)
        {
            StoreLog.BackgroundDelay = TimeSpan.FromHours(1);
        }

        using var asked = new ManualResetEventSlim();
        if (args[1] == "go-on")
        {
            Console.CancelKeyPress += (_, e) =>
            {
                e.Cancel = true;
                asked.Set();
            };
        }

        PersistentMap<int, int> map = PersistentMap.Open(OptionsFor(args[0]), isInBackground ? null : PersistentMapTests.Kept<int, int>());
        map[1] = 1;
        if (args is [_, _, "busy"])
        {
            using var started = new CountdownEvent(2);
            for (int thread = 0; thread < 2; thread++)
            {
                new Thread(() =>
                {
                    started.Signal();
                    for (int i = 2; ; i++)
                    {
                        map[i % 1000] = i;
                        _ = map.Get(i % 500);
                    }
                }) { IsBackground = true }.Start();
            }

            started.Wait();
        }

        using PosixSignalRegistration? handler = args[1] != "go-on" ? null : PosixSignalRegistration.Create(PosixSignal.SIGTERM, context =>
        {
            context.Cancel = true;
            asked.Set();
        });
        Console.WriteLine("ready");
        switch (args[1])
        {
            case "go-on":
                asked.Wait();
                map[2] = 2;
                return;
            case "return":
                return;
            case "exit":
                Environment.Exit(3);
                return;
            case "throw":
                throw new InvalidOperationException("This process was asked to end so.");
            default:
                Thread.Sleep(Timeout.Infinite);
                return;
        }
    }

    private static int Add(PersistentMap<string, int> map, string key, int times)
    {
        int value = 0;
        for (int i = 0; i < times; i++)
        {
            value = map.AddOrUpdate(key, 1, static (_, count) => count + 1);
        }

        return value;
    }

    private static StoreOptions OptionsFor(string path) => new() { Path = path, CapacityBytes = StoreDirectory.SmallCapacityBytes };
}
