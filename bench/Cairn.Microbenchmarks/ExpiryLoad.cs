using System.Diagnostics;
using System.Globalization;

namespace Cairn.Microbenchmarks;

// Measures the cost of active expiration for a store under load. Each measurement runs in a process of its own. Otherwise the sweeps of one store
// would run during the measurement of another one. Stores with and without removal take turns. A third store has the same setting as the
// first, so their difference shows the effect of chance.
internal static class ExpiryLoad
{
    public const string Command = "expiry-load";

    private const int Rounds = 5;
    private const int Keys = 1_000_000;
    private static readonly TimeSpan s_warmUp = TimeSpan.FromSeconds(5); // Until as many entries expire as are set.
    private static readonly TimeSpan s_length = TimeSpan.FromSeconds(3);

    private static readonly (string Name, int GetsPerSet, int ShortestMs, int LongestMs)[] s_loads =
    [
        ("sets, times to live of 2 s", 0, 2_000, 2_000),
        ("nine gets to a set, times to live of 2 s", 9, 2_000, 2_000),
        ("nine gets to a set, times to live of 1 s to an hour", 9, 1_000, 3_600_000),
    ];

    /// <summary>Runs all loads. With two arguments, measures one load in this process.</summary>
    public static int Run(string[] args)
    {
        if (args is [var number, var removes])
        {
            Console.WriteLine(string.Join(' ', Measure(int.Parse(number, CultureInfo.InvariantCulture), removes == "on").Select(figure => figure.ToString("R", CultureInfo.InvariantCulture))));
            return 0;
        }

        for (int load = 0; load < s_loads.Length; load++)
        {
            Compare(load);
        }

        return 0;
    }

    private static void Compare(int load)
    {
        string[] settings = ["off", "on", "off"];
        var figures = new double[settings.Length][][];
        for (int i = 0; i < settings.Length; i++)
        {
            figures[i] = new double[Rounds][];
        }

        for (int round = 0; round < Rounds; round++)
        {
            for (int i = 0; i < settings.Length; i++)
            {
                figures[i][round] = Child(load, settings[i]);
            }
        }

        Console.WriteLine($"{s_loads[load].Name}, one thread, {Rounds} rounds, ratio of the medians:");
        Console.WriteLine($"  with removal against without:    {Ratios(figures[1], figures[0])}");
        Console.WriteLine($"  without removal against without: {Ratios(figures[2], figures[0])}");
    }

    private static string Ratios(double[][] these, double[][] others) => string.Create(
        CultureInfo.InvariantCulture,
        $"time {Median(these, 0) / Median(others, 0):N3} ({Median(these, 0):N0} ns an operation), processor time {Median(these, 2) / Median(others, 2):N3}, of which beside the thread {100 * these.Select(round => 1 - (round[1] / round[2])).Order().ElementAt(these.Length / 2):N1} %");

    private static double Median(double[][] rounds, int figure) => rounds.Select(round => round[figure]).Order().ElementAt(rounds.Length / 2);

    private static double[] Child(int load, string removes)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!) { UseShellExecute = false, RedirectStandardOutput = true };
        foreach (string argument in (string[])[typeof(ExpiryLoad).Assembly.Location, Command, load.ToString(CultureInfo.InvariantCulture), removes])
        {
            start.ArgumentList.Add(argument);
        }

        using Process child = Process.Start(start)!;
        string line = child.StandardOutput.ReadToEnd();
        child.WaitForExit();
        return [.. line.Split(' ').Select(text => double.Parse(text, CultureInfo.InvariantCulture))];
    }

    // Returns nanoseconds of an operation: elapsed time, processor time of the working thread, processor time of the process. The process sweeps on
    // another thread.
    private static double[] Measure(int load, bool removes)
    {
        (_, int getsPerSet, int shortestMs, int longestMs) = s_loads[load];
        using ExpiryScene scene = ExpiryScene.Create(removes);
        var random = new Random(1);
        TimeSpan[] times = [.. Enumerable.Range(0, 4096).Select(_ => TimeSpan.FromMilliseconds(random.Next(shortestMs, longestMs + 1)))];
        Work(scene.Store.DefaultCollection, getsPerSet, times, s_warmUp, random);
        long process = ProcessorTime.OfProcess();
        long thread = ProcessorTime.OfThread();
        var watch = Stopwatch.StartNew();
        double count = Work(scene.Store.DefaultCollection, getsPerSet, times, s_length, random);
        return [watch.Elapsed.TotalNanoseconds / count, (ProcessorTime.OfThread() - thread) / count, (ProcessorTime.OfProcess() - process) / count];
    }

    private static long Work(CairnCollection cache, int getsPerSet, TimeSpan[] times, TimeSpan length, Random random)
    {
        Span<byte> destination = stackalloc byte[128];
        Span<byte> value = stackalloc byte[64];
        Span<byte> key = stackalloc byte[12];
        long began = Stopwatch.GetTimestamp();
        long count = 0;
        while (Stopwatch.GetElapsedTime(began) < length)
        {
            for (int i = 0; i < 1000; i++, count++)
            {
                int number = random.Next(Keys);
                number.TryFormat(key, out _, "D12", CultureInfo.InvariantCulture);
                if (count % (getsPerSet + 1) == 0)
                {
                    cache.Set(key, value, times[number % times.Length]);
                }
                else
                {
                    cache.TryGet(key, destination, out int _);
                }
            }
        }

        return count;
    }
}
