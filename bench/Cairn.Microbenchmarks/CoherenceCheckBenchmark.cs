using BenchmarkDotNet.Attributes;
using Cairn.Caching.Coherence;

namespace Cairn.Microbenchmarks;

/// <summary>What does a hit of the first level pay to be coherent with all processes that share the store file?</summary>
public class CoherenceCheckBenchmark
{
    private const int Checks = 1_000;

    private BenchmarkStore _store = null!;
    private StoreCoherence _coherence = null!;

    [GlobalSetup]
    public void Setup()
    {
        _store = BenchmarkStore.CreateWith("book:42"u8, valueBytes: 64);
        _coherence = new StoreCoherence(_store.Store);
        _coherence.Attach(new NoEntries());
    }

    [GlobalCleanup]
    public void Cleanup() => _store.Dispose();

    // The hashes choose all partitions in turn.
    [Benchmark(OperationsPerInvoke = Checks)]
    public bool Check()
    {
        bool isCurrent = true;
        for (ulong i = 0; i < Checks; i++)
        {
            isCurrent &= _coherence.TryCatchUp(i * 0x9E37_79B9_7F4A_7C15);
        }

        return isCurrent;
    }

    private sealed class NoEntries : IChangeSink
    {
        public void OnChanged(ulong hash)
        {
        }

        public void OnChangedMany(int shift, ulong prefix)
        {
        }
    }
}
