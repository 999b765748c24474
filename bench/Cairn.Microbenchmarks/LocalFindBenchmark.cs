using System.Collections.Concurrent;
using BenchmarkDotNet.Attributes;
using Cairn.Caching.Local;

namespace Cairn.Microbenchmarks;

/// <summary>What does a hit in the first level cost as it grows, if the hash is known, compared with a dictionary of the same keys?</summary>
[MemoryDiagnoser]
public class LocalFindBenchmark
{
    private const int Requests = 1 << 14;

    private readonly ConcurrentDictionary<string, LocalEntry> _dictionary = new(StringComparer.Ordinal);
    private readonly LocalEntry[] _requests = new LocalEntry[Requests];
    private LocalCache _cache = null!;

    [Params(1_000, 100_000)]
    public int Entries { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _cache = new LocalCache(Entries, long.MaxValue);
        LocalEntry[] entries = LocalBenchmarkEntries.Make(Entries);
        foreach (var entry in entries)
        {
            _cache.Set(entry);
            _dictionary[entry.Key] = entry;
        }

        var random = new Random(1);
        for (var i = 0; i < Requests; i++)
        {
            _requests[i] = entries[random.Next(Entries)];
        }
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Requests)]
    public int Dictionary()
    {
        var found = 0;
        foreach (var request in _requests)
        {
            found += _dictionary.TryGetValue(request.Key, out _) ? 1 : 0;
        }

        return found;
    }

    [Benchmark(OperationsPerInvoke = Requests)]
    public int FirstLevel()
    {
        var found = 0;
        foreach (var request in _requests)
        {
            found += _cache.Find(request.Hash, request.Key) is null ? 0 : 1;
        }

        return found;
    }
}
