using System.Collections.Concurrent;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Peers;

/// <summary>The usual first cache of an application: a dictionary of arrays, sized in advance.</summary>
internal static class DictionaryPeer
{
    public const string Name = "ConcurrentDictionary";

    public static ConcurrentDictionary<string, byte[]> Load(int entries, int valueBytes)
    {
        var dictionary = new ConcurrentDictionary<string, byte[]>(Environment.ProcessorCount, entries);
        UsedCache.Fill(entries, number => dictionary[Requests.TextKey(number)] = new byte[valueBytes]);
        return dictionary;
    }
}

/// <summary>Gets a value and copies it.</summary>
internal sealed class DictionaryGet(ConcurrentDictionary<string, byte[]> dictionary, Requests requests, int valueBytes)
    : OperationContender(DictionaryPeer.Name, requests.Count)
{
    private readonly TextRequests _requests = requests.AsTexts();
    private readonly byte[] _destination = new byte[valueBytes];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (dictionary.TryGetValue(_requests.Key(i), out var value))
            {
                value.CopyTo(_destination, 0);
            }
            else
            {
                Misses++;
            }
        }
    }
}

/// <summary>Sets a new array, as an application does after serialising a value.</summary>
internal sealed class DictionarySet(ConcurrentDictionary<string, byte[]> dictionary, Requests requests, int valueBytes)
    : OperationContender(DictionaryPeer.Name, requests.Count, StoreScale.SetPasses)
{
    private readonly TextRequests _requests = requests.AsTexts();
    private readonly byte[] _value = new byte[valueBytes];

    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            dictionary[_requests.Key(i)] = _value.AsSpan().ToArray();
        }
    }
}
