using BenchmarkDotNet.Attributes;

namespace Cairn.Microbenchmarks;

/// <summary>What does a hit cost as values grow, compared with a dictionary lookup plus a copy?</summary>
[MemoryDiagnoser]
public class GetHitBenchmark
{
    private readonly byte[] _destination = new byte[64 * 1024];
    private readonly Dictionary<string, byte[]> _dictionary = [];
    private BenchmarkStore _store = null!;
    private CairnCollection _cache = null!;

    [Params(64, 1024, 64 * 1024)]
    public int ValueBytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _store = BenchmarkStore.CreateWith("book:42"u8, ValueBytes);
        _cache = _store.Cache;
        _dictionary["book:42"] = new byte[ValueBytes];
    }

    [GlobalCleanup]
    public void Cleanup() => _store.Dispose();

    [Benchmark(Baseline = true)]
    public void Dictionary() => _dictionary["book:42"].CopyTo(_destination, 0);

    [Benchmark]
    public bool Store() => _cache.TryGet("book:42"u8, _destination, out int _);

    [Benchmark]
    public bool StoreByString() => _cache.TryGet("book:42", _destination, out int _);
}
