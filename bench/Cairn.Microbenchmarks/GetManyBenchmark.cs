using BenchmarkDotNet.Attributes;

namespace Cairn.Microbenchmarks;

/// <summary>What does one call for sixteen keys save over sixteen calls, when the entries are not in the processor's caches?</summary>
[MemoryDiagnoser]
public class GetManyBenchmark
{
    private const int BatchKeys = 16;
    private const int ValueBytes = 100;

    // 200,000 entries take about 30 MB. Every batch consists of entries that were not used for a long time.
    private const int Entries = 200_000;

    private readonly byte[] _destination = new byte[BatchKeys * ValueBytes];
    private readonly GetManyResult[] _results = new GetManyResult[BatchKeys];
    private BenchmarkStore _store = null!;
    private CairnCollection _cache = null!;
    private byte[][] _keys = [];
    private ReadOnlyMemory<byte>[] _memories = [];
    private int _next;

    [GlobalSetup]
    public void Setup()
    {
        _store = BenchmarkStore.Create();
        _cache = _store.Cache;
        _keys = BenchmarkStore.Keys(Entries);
        foreach (var key in _keys)
        {
            _cache.Set(key, new byte[ValueBytes]);
        }

        new Random(1).Shuffle(_keys);
        _memories = [.. _keys.Select(key => new ReadOnlyMemory<byte>(key))];
    }

    [GlobalCleanup]
    public void Cleanup() => _store.Dispose();

    [Benchmark(Baseline = true, OperationsPerInvoke = BatchKeys)]
    public int OneByOne()
    {
        var found = 0;
        var first = NextBatch();
        foreach (var key in _keys.AsSpan(first, BatchKeys))
        {
            found += _cache.TryGet(key, _destination, out int _) ? 1 : 0;
        }

        return found;
    }

    [Benchmark(OperationsPerInvoke = BatchKeys)]
    public int AtOnce() => _cache.GetMany(_memories.AsSpan(NextBatch(), BatchKeys), _destination, _results);

    private int NextBatch()
    {
        var batch = _next;
        _next = batch + (2 * BatchKeys) > Entries ? 0 : batch + BatchKeys;
        return batch;
    }
}
