using System.Collections;

namespace Cairn.Maps;

// A copy of a map. An enumeration needs no index, and the index is the largest part of a dictionary's cost. So the index is created at the first lookup of
// a key.
internal sealed class MapSnapshot<TKey, TValue>(KeyValuePair<TKey, TValue>[] items, int count) : IReadOnlyDictionary<TKey, TValue>
    where TKey : notnull
    where TValue : notnull
{
    private Dictionary<TKey, TValue>? _index;

    public int Count => count;

    public IEnumerable<TKey> Keys => this.Select(item => item.Key);

    public IEnumerable<TValue> Values => this.Select(item => item.Value);

    // Two threads can create the index at the same time, which does no harm.
    private Dictionary<TKey, TValue> Index => _index ??= MakeIndex();

    public TValue this[TKey key] => Index[key];

    public bool ContainsKey(TKey key) => Index.ContainsKey(key);

    public bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value) => Index.TryGetValue(key, out value);

    public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator()
    {
        for (int i = 0; i < count; i++)
        {
            yield return items[i];
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Returns the copy without repeated keys. If a key occurs more than once, the last value stays.</summary>
    public IReadOnlyDictionary<TKey, TValue> WithoutRepetitions() => Index;

    private Dictionary<TKey, TValue> MakeIndex()
    {
        IEqualityComparer<TKey>? comparer = typeof(TKey) == typeof(byte[]) ? (IEqualityComparer<TKey>)(object)ByteArrayComparer.Instance : null;
        var index = new Dictionary<TKey, TValue>(count, comparer);
        foreach (KeyValuePair<TKey, TValue> item in items.AsSpan(0, count))
        {
            index[item.Key] = item.Value;
        }

        return index;
    }
}

/// <summary>Compares arrays by their bytes, as a map does.</summary>
internal sealed class ByteArrayComparer : IEqualityComparer<byte[]>
{
    public static readonly ByteArrayComparer Instance = new();

    public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

    public int GetHashCode(byte[] obj)
    {
        var hash = default(HashCode);
        hash.AddBytes(obj);
        return hash.ToHashCode();
    }
}
