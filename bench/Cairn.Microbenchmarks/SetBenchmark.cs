using BenchmarkDotNet.Attributes;

namespace Cairn.Microbenchmarks;

/// <summary>What does a set cost as values grow, compared with replacing an array in a dictionary?</summary>
[MemoryDiagnoser]
public class SetBenchmark
{
    private readonly Dictionary<string, byte[]> _dictionary = [];
    private BenchmarkStore _store = null!;
    private CairnCollection _cache = null!;
    private byte[] _value = [];

    [Params(64, 1024, 64 * 1024)]
    public int ValueBytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _store = BenchmarkStore.CreateWith("book:42"u8, ValueBytes);
        _cache = _store.Cache;
        _value = new byte[ValueBytes];
    }

    [GlobalCleanup]
    public void Cleanup() => _store.Dispose();

    [Benchmark(Baseline = true)]
    public void Dictionary() => _dictionary["book:42"] = _value.AsSpan().ToArray();

    [Benchmark]
    public bool Store() => _cache.Set("book:42"u8, _value);
}
