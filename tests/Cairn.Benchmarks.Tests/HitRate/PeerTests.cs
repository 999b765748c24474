using BitFaster.Caching.Lfu;
using BitFaster.Caching.Scheduler;
using Cairn.HitRate;
using Cairn.HitRate.Policies;
using Cairn.HitRate.Traces;

namespace Cairn.Benchmarks.Tests.HitRate;

/// <summary>
/// The peers of the hit ratio are at least as good as other implementations. A peer with a mistake would be too easy to beat. The tests generate their
/// traces; if the recorded ones are there, they replay them, too.
/// </summary>
public class PeerTests
{
    private const int LoopKeys = 1011;
    private const double TolerancePoints = 1;

    // W-TinyLFU at 512 with a sketch that only multiplies consecutive keys gave 42.8.
    [Theory]
    [InlineData(256)]
    [InlineData(512)]
    [InlineData(900)]
    public void W_tiny_lfu_keeps_nearly_as_much_of_a_loop_of_consecutive_keys_as_there_is_room(int capacity)
    {
        var trace = new Trace("loop", [.. Enumerable.Range(0, 500 * LoopKeys).Select(i => i % LoopKeys)], LoopKeys);

        var hitPercent = HitPercent(new WindowTinyLfuPolicy(capacity, LoopKeys, isAdaptive: false), trace);

        Assert.InRange(hitPercent, (0.99 * 100 * capacity / LoopKeys) - TolerancePoints, 100.0 * capacity / LoopKeys);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(1000)]
    public void W_tiny_lfu_is_as_good_as_bit_fasters_on_skewed_keys_with_scans(int capacity)
    {
        var trace = SkewedWithScans(seed: 7);

        var own = Math.Max(
            HitPercent(new WindowTinyLfuPolicy(capacity, trace.DistinctKeys, isAdaptive: false), trace),
            HitPercent(new WindowTinyLfuPolicy(capacity, trace.DistinctKeys, isAdaptive: true), trace));

        Assert.InRange(own, BitFasterHitPercent(trace, capacity) - TolerancePoints, 100);
    }

    /// <summary>The figures of the table beside the recorded traces. A clone without the traces has nothing to compare.</summary>
    [Theory]
    [InlineData("loop", 900, 0.00, 0.00, 78.60)]
    [InlineData("multi1", 130, 23.84, 33.53, 45.53)]
    [InlineData("sprite", 353, 65.62, 60.53, 67.18)]
    [InlineData("gli", 1000, 11.21, 31.34, 35.05)]
    [InlineData("scarab", 2583, 34.71, 40.81, 42.75)]
    [InlineData("adapt_size", 3681, 34.19, 37.50, 37.44)]
    [InlineData("stress", 1024, 76.69, 0.50, 76.69)]
    public void Peers_have_their_reference_figures_on_recorded_traces(string name, int capacity, double lru, double sieve, double s3Fifo)
    {
        var folder = Path.GetFullPath(Path.Combine(BenchmarkCommand.RepositoryRoot(), "../shared/traces"));
        if (!Directory.Exists(folder))
        {
            return;
        }

        var trace = TraceFile.Known.Single(file => file.Name == name).ReadFrom(folder);

        Assert.Equal(lru, HitPercent(new LruPolicy(capacity, trace.DistinctKeys), trace), tolerance: 0.02);
        Assert.Equal(sieve, HitPercent(new SievePolicy(capacity, trace.DistinctKeys), trace), tolerance: 0.02);
        Assert.Equal(s3Fifo, HitPercent(new S3FifoPolicy(capacity, trace.DistinctKeys), trace), tolerance: 0.02);
    }

    private static double BitFasterHitPercent(Trace trace, int capacity)
    {
        // The foreground scheduler makes the result repeatable.
        var cache = new ConcurrentLfu<int, int>(concurrencyLevel: 1, capacity, new ForegroundScheduler(), EqualityComparer<int>.Default);
        var hits = 0L;
        foreach (var key in trace.Requests)
        {
            if (cache.TryGet(key, out _))
            {
                hits++;
            }
            else
            {
                cache.AddOrUpdate(key, key);
            }
        }

        return 100.0 * hits / trace.Requests.Length;
    }

    private static double HitPercent(ICachePolicy policy, Trace trace)
    {
        using (policy)
        {
            return Replay.Run(policy, trace).HitPercent;
        }
    }

    private static Trace SkewedWithScans(int seed)
    {
        const int Keys = 20_000;
        var random = new Random(seed);
        var requests = new List<int>();
        for (var round = 0; round < 20; round++)
        {
            requests.AddRange(Enumerable.Range(0, 10_000).Select(_ => (int)(Keys * Math.Pow(random.NextDouble(), 5))));
            requests.AddRange(Enumerable.Range(Keys + (round * 2000), 2000));
        }

        return new Trace("skewed with scans", [.. requests], Keys + (20 * 2000));
    }
}
