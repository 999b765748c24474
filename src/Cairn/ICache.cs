using System.Diagnostics.CodeAnalysis;

namespace Cairn;

/// <summary>Values by key, as a cache gives them: a key may have none at any time.</summary>
/// <typeparam name="TKey">Of the keys.</typeparam>
/// <typeparam name="TValue">Of the values.</typeparam>
public interface ICache<TKey, TValue>
    where TKey : notnull
    where TValue : notnull
{
    /// <summary>A key's value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>The value; the default of its type if there is none, which <see cref="TryGet"/> tells from a value.</returns>
    TValue? Get(TKey key);

    /// <summary>A key's value, and whether there is one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value if the result is true.</param>
    /// <returns>True if there is a value.</returns>
    bool TryGet(TKey key, [MaybeNullWhen(false)] out TValue value);

    /// <summary>Stores a value, replacing any earlier one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    void Put(TKey key, TValue value);

    /// <summary>Whether a key has a value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>True if there is a value.</returns>
    bool ContainsKey(TKey key);

    /// <summary>Removes a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>True if there was one.</returns>
    bool Invalidate(TKey key);

    /// <summary>Removes everything.</summary>
    void Clear();

    /// <summary>A copy of everything.</summary>
    /// <returns>Keys and values, in no order.</returns>
    IReadOnlyDictionary<TKey, TValue> GetAll();

    /// <summary>A copy of all values.</summary>
    /// <returns>The values, in no order.</returns>
    IReadOnlyList<TValue> GetAllValues();

    /// <summary>A copy of all keys.</summary>
    /// <returns>The keys, in no order.</returns>
    IReadOnlyList<TKey> GetAllKeys();
}
