using BenchmarkDotNet.Attributes;
using Cairn.Caching.Local;
using Cairn.Eviction.Dueling;

namespace Cairn.Microbenchmarks;

/// <summary>What does the duel of policies add to a hit of a first level that evicts, if few keys have most requests?</summary>
public class LocalDuelBenchmark
{
    private const int Requests = 1 << 16;
    private const int KeysPerEntry = 4;

    private readonly LocalEntry[] _requests = new LocalEntry[Requests];
    private LocalCache _onePolicy = null!;
    private LocalCache _duel = null!;

    [Params(1_000, 10_000, 100_000)]
    public int Entries { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        var entries = LocalBenchmarkEntries.Make(Entries * KeysPerEntry);
        _onePolicy = Fill(QueuePolicy.First, entries);
        _duel = Fill(policy: null, entries);
        var both = entries.Where(entry => _onePolicy.Find(entry.Hash, entry.Key) is not null && _duel.Find(entry.Hash, entry.Key) is not null).ToArray();
        var random = new Random(1);
        for (var i = 0; i < Requests; i++)
        {
            _requests[i] = both[IndexOf(random, both.Length)];
        }
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Requests)]
    public int OnePolicy() => Found(_onePolicy);

    [Benchmark(OperationsPerInvoke = Requests)]
    public int Duel() => Found(_duel);

    private static LocalCache Fill(QueuePolicy? policy, LocalEntry[] entries)
    {
        var cache = new LocalCache(entries.Length / KeysPerEntry, long.MaxValue, policy: policy);
        var random = new Random(2);
        for (var i = 0; i < entries.Length * KeysPerEntry; i++)
        {
            var entry = entries[IndexOf(random, entries.Length)];
            if (cache.Find(entry.Hash, entry.Key) is null)
            {
                cache.Set(LocalBenchmarkEntries.Copy(entry));
            }
        }

        return cache;
    }

    // Nearly a Zipf distribution with skew 0.75.
    private static int IndexOf(Random random, int count) => (int)(count * Math.Pow(random.NextDouble(), 4));

    private int Found(LocalCache cache)
    {
        var found = 0;
        foreach (var request in _requests)
        {
            found += cache.Find(request.Hash, request.Key) is null ? 0 : 1;
        }

        return found;
    }
}
