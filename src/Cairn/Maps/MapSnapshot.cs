using System.Collections;
using System.Diagnostics.CodeAnalysis;

namespace Cairn.Maps;

// A copy of a map. Going through it needs no index, which is most of what a dictionary costs to make: it is made when a key is first
// looked up.
internal sealed class MapSnapshot<TKey, TValue>(KeyValuePair<TKey, TValue>[] items, int count) : IReadOnlyDictionary<TKey, TValue>
    where TKey : notnull
    where TValue : notnull
{
    private Dictionary<TKey, TValue>? _index;

    public int Count => count;

    public IEnumerable<TKey> Keys => this.Select(item => item.Key);

    public IEnumerable<TValue> Values => this.Select(item => item.Value);

    // Two threads may make it at the same time, which does no harm.
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

    /// <summary>The same, if a key is there more than once: the later stays.</summary>
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

/// <summary>Arrays as a map compares them: by their bytes.</summary>
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
