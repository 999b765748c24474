using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;

namespace Cairn.Benchmarks.Peers;

/// <summary>The framework's in-process object cache without a size limit, which is its fastest form.</summary>
internal static class MemoryCachePeer
{
    public const string Name = "MemoryCache";

    public static MemoryCache Load(int entries, int valueBytes)
    {
        var cache = new MemoryCache(Options.Create(new MemoryCacheOptions()));
        UsedCache.Fill(entries, number => cache.Set(Requests.TextKey(number), new byte[valueBytes]));
        return cache;
    }
}

/// <summary>Gets a value and copies it.</summary>
internal sealed class MemoryCacheGet(MemoryCache cache, Requests requests, int valueBytes)
    : OperationContender(MemoryCachePeer.Name, requests.Count)
{
    private readonly TextRequests _requests = requests.AsTexts();
    private readonly byte[] _destination = new byte[valueBytes];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (cache.TryGetValue(_requests.Key(i), out byte[]? value))
            {
                value!.CopyTo(_destination, 0);
            }
            else
            {
                Misses++;
            }
        }
    }
}

/// <summary>Sets a new array.</summary>
internal sealed class MemoryCacheSet(MemoryCache cache, Requests requests, int valueBytes)
    : OperationContender(MemoryCachePeer.Name, requests.Count, StoreScale.SetPasses)
{
    private readonly TextRequests _requests = requests.AsTexts();
    private readonly byte[] _value = new byte[valueBytes];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            cache.Set(_requests.Key(i), _value.AsSpan().ToArray());
        }
    }
}
