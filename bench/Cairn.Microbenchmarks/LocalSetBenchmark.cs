using System.Collections.Concurrent;
using BenchmarkDotNet.Attributes;
using Cairn.Caching.Local;

namespace Cairn.Microbenchmarks;

/// <summary>What does a new entry cost in a full first level, compared with replacing an entry in a dictionary of the same size?</summary>
[MemoryDiagnoser]
public class LocalSetBenchmark
{
    // With so many keys, the cache has forgotten a key before the benchmark sets it again.
    private const int KeysPerEntry = 8;

    private readonly ConcurrentDictionary<string, LocalEntry> _dictionary = new(StringComparer.Ordinal);
    private LocalEntry[] _keys = [];
    private LocalCache _cache = null!;
    private int _next;

    [Params(1_000, 100_000)]
    public int Entries { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _cache = new LocalCache(Entries, long.MaxValue);
        _keys = LocalBenchmarkEntries.Make(Entries * KeysPerEntry);
        foreach (var key in _keys)
        {
            _cache.Set(LocalBenchmarkEntries.Copy(key));
        }

        foreach (var key in _keys.AsSpan(0, Entries))
        {
            _dictionary[key.Key] = key;
        }
    }

    [Benchmark(Baseline = true)]
    public void Dictionary()
    {
        _next = _next + 1 < Entries ? _next + 1 : 0;
        var key = _keys[_next];
        _dictionary[key.Key] = LocalBenchmarkEntries.Copy(key);
    }

    [Benchmark]
    public void FirstLevel()
    {
        _next = _next + 1 < _keys.Length ? _next + 1 : 0;
        _cache.Set(LocalBenchmarkEntries.Copy(_keys[_next]));
    }
}
