using System.Text;
using BenchmarkDotNet.Attributes;
using Cairn.Storage;

namespace Cairn.Microbenchmarks;

/// <summary>What does hashing a key cost as keys grow, compared with the framework's hash of the same string?</summary>
[MemoryDiagnoser]
public class KeyHashBenchmark
{
    private const ulong Seed = 42;

    private string _text = string.Empty;
    private byte[] _key = [];

    [Params(8, 20, 64, 250)]
    public int KeyBytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _text = string.Create(KeyBytes, 0, (target, _) => target.Fill('k'));
        _key = Encoding.ASCII.GetBytes(_text);
    }

    [Benchmark(Baseline = true)]
    public int StringHash() => _text.GetHashCode(StringComparison.Ordinal);

    [Benchmark]
    public unsafe ulong KeyHashOfBytes()
    {
        fixed (byte* key = _key)
        {
            return KeyHash.Compute(key, _key.Length, Seed);
        }
    }
}
