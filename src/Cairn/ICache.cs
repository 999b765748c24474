using System.Diagnostics.CodeAnalysis;

namespace Cairn;

/// <summary>A cache of values by key. A key can lose its value at any time.</summary>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <typeparam name="TValue">The type of the values.</typeparam>
public interface ICache<TKey, TValue>
    where TKey : notnull
    where TValue : notnull
{
    /// <summary>Returns a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>The value, or the default of its type if there is none. <see cref="TryGet"/> distinguishes the two.</returns>
    TValue? Get(TKey key);

    /// <summary>Returns a key's value, and whether there is one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value if the result is true.</param>
    /// <returns>True if there is a value.</returns>
    bool TryGet(TKey key, [MaybeNullWhen(false)] out TValue value);

    /// <summary>Stores a value. It replaces an earlier value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    void Put(TKey key, TValue value);

    /// <summary>Returns whether a key has a value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>True if there is a value.</returns>
    bool ContainsKey(TKey key);

    /// <summary>Removes a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>True if there was one.</returns>
    bool Invalidate(TKey key);

    /// <summary>Removes everything.</summary>
    void Clear();

    /// <summary>Returns a copy of everything.</summary>
    /// <returns>Keys and values, in no order.</returns>
    IReadOnlyDictionary<TKey, TValue> GetAll();

    /// <summary>Returns a copy of all values.</summary>
    /// <returns>The values, in no order.</returns>
    IReadOnlyList<TValue> GetAllValues();

    /// <summary>Returns a copy of all keys.</summary>
    /// <returns>The keys, in no order.</returns>
    IReadOnlyList<TKey> GetAllKeys();
}
