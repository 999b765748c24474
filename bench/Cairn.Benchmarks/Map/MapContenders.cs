using System.Collections.Concurrent;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Map;

/// <summary>Puts the integers 0, 1, 2 ..., each with itself as value.</summary>
internal sealed class MapPut(PersistentMap<int, int> map, int entries, int passes = 1) : OperationContender(CairnSubject.Name, entries, passes)
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            map[i] = i;
        }
    }
}

/// <summary>Gets the integers 0, 1, 2 ... and checks each value.</summary>
internal sealed class MapGet(PersistentMap<int, int> map, int entries, int passes = 1) : OperationContender(CairnSubject.Name, entries, passes)
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (!map.TryGet(i, out var value) || value != i)
            {
                Misses++;
            }
        }
    }
}

/// <summary>Puts new integers into a map that was cleared.</summary>
internal sealed class MapFill(PersistentMap<int, int> map, int entries) : OperationContender(CairnSubject.Name, entries)
{
    protected override void Run(int first, int count)
    {
        if (first == 0)
        {
            map.Clear();
        }

        for (var i = first; i < first + count; i++)
        {
            map[i] = i;
        }
    }
}

/// <summary>Copies the whole map; one operation is one entry.</summary>
internal sealed class MapGetAll(PersistentMap<int, int> map, int entries, int passes) : WholeContender(CairnSubject.Name, entries, passes)
{
    protected override int Copy() => map.GetAll().Count;
}

/// <summary>Puts the integers 0, 1, 2 ..., each with itself as value.</summary>
internal sealed class ConcurrentDictionaryPut(ConcurrentDictionary<int, int> dictionary, int entries, int passes)
    : OperationContender(Peers.DictionaryPeer.Name, entries, passes)
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            dictionary[i] = i;
        }
    }
}

/// <summary>Gets the integers 0, 1, 2 ... and checks each value.</summary>
internal sealed class ConcurrentDictionaryGet(ConcurrentDictionary<int, int> dictionary, int entries, int passes)
    : OperationContender(Peers.DictionaryPeer.Name, entries, passes)
{
    protected override void Run(int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            if (!dictionary.TryGetValue(i, out var value) || value != i)
            {
                Misses++;
            }
        }
    }
}

/// <summary>Puts new integers into a new dictionary.</summary>
internal sealed class ConcurrentDictionaryFill(int entries) : OperationContender(Peers.DictionaryPeer.Name, entries)
{
    private ConcurrentDictionary<int, int> _dictionary = new();

    protected override void Run(int first, int count)
    {
        if (first == 0)
        {
            _dictionary = new();
        }

        for (var i = first; i < first + count; i++)
        {
            _dictionary[i] = i;
        }
    }
}

/// <summary>Copies a whole dictionary; one operation is one entry.</summary>
internal sealed class DictionaryCopy(Dictionary<int, int> dictionary, int passes) : WholeContender("Dictionary, copied", dictionary.Count, passes)
{
    private Dictionary<int, int> _copy = [];

    protected override int Copy()
    {
        _copy = new Dictionary<int, int>(dictionary);
        return _copy.Count;
    }
}

/// <summary>Copies all entries at once, in the first chunk of a pass.</summary>
internal abstract class WholeContender(string name, int entries, int passes) : OperationContender(name, entries, passes)
{
    private readonly int _entries = entries;

    protected abstract int Copy();

    protected override void Run(int first, int count)
    {
        if (first == 0)
        {
            Misses += _entries - Copy();
        }
    }
}
