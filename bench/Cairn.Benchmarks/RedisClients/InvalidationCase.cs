using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.Caching;
using Cairn.Redis;

namespace Cairn.Benchmarks.RedisClients;

// The time until the first level of another process has removed an entry that this process removes. The other process is this program,
// started with the arguments below. It has a receiver in the place of a first level:
//
//   <- ready                  as soon as it receives changes
//   <- TIMESTAMP              for each change, on the clock that all processes share
internal static class InvalidationCase
{
    public const string Command = "hear-redis";

    private const double NsPerMs = 1e6;

    public static void Measure(AreaRun run, int port)
    {
        var pending = new Finding("another process sees a change, 99 of 100", "Cairn", "1 ms") { Goal = Goal.AtMost(2) };
        run.Check("redis, invalidation", [pending], () =>
        {
            using var listener = ChildProcess.Start(Command, port.ToString(CultureInfo.InvariantCulture));
            using var cache = new CairnRedisCache(new CairnRedisOptions { Configuration = $"127.0.0.1:{port}" });
            if (listener.StandardOutput.ReadLine() != "ready")
            {
                throw new InvalidOperationException("The listening process ended.");
            }

            var count = run.Settings.IsQuick ? 200 : 3_000;
            var delays = new List<double>(count);
            for (var i = -count / 10; i < count; i++)
            {
                // Starts before the call, so that the way to the server counts too.
                var start = Stopwatch.GetTimestamp();
                cache.Set("key", [1], new());
                var told = long.Parse(listener.StandardOutput.ReadLine()!, CultureInfo.InvariantCulture);
                if (i >= 0)
                {
                    delays.Add(Stopwatch.GetElapsedTime(start, told).TotalNanoseconds);
                }
            }

            listener.StandardInput.Close();
            listener.WaitForExit();
            delays.Sort();
            var tail = delays[(int)(delays.Count * 0.99)];
            var median = delays[delays.Count / 2];
            return
            [
                pending with
                {
                    Measured = new Sample(median, median, BytesAllocated: 0) { MedianLatencyNs = median, TailLatencyNs = tail },
                    Ratio = tail / NsPerMs,
                },
            ];
        });
    }

    /// <summary>Runs the program as the other process.</summary>
    public static int Serve(IReadOnlyList<string> arguments)
    {
        using var cache = new CairnRedisCache(new CairnRedisOptions { Configuration = $"127.0.0.1:{arguments[0]}" });
        using var subscription = ((ICacheInvalidation)cache).Subscribe("", new Listener());
        Console.In.ReadToEnd();
        return 0;
    }

    private sealed class Listener : ICacheChangeReceiver
    {
        private bool _isReady;

        public void OnChanged(in CacheChange change) => Console.Out.WriteLine(Stopwatch.GetTimestamp().ToString(CultureInfo.InvariantCulture));

        public void OnHeartbeat(TimeSpan age)
        {
            if (!_isReady)
            {
                _isReady = true;
                Console.Out.WriteLine("ready");
            }
        }

        public void OnMissed()
        {
            // The receiver holds no entries.
        }
    }
}
