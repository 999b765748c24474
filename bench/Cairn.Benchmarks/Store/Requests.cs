using System.Globalization;
using System.Text;

namespace Cairn.Benchmarks.Store;

// Every key once, as bytes in one flat array and as strings, and the order in which they are asked for, all made
// before anything is measured. Reading the key from where it lies is part of what is measured, for every contender alike,
// as it is for an application whose keys come from its own data. The strings are not the objects that a peer holds.
internal sealed class Requests
{
    /// <summary>Length of every key, in bytes and in characters.</summary>
    public const int KeyBytes = 20;

    private readonly int[] _order;
    private readonly byte[] _keys;
    private readonly Lazy<string[]> _texts;
    private readonly Lazy<ReadOnlyMemory<byte>[]> _memories;

    /// <param name="keys">How many keys there are.</param>
    /// <param name="order">Numbers of keys, each below <paramref name="keys"/>, in the order in which they are asked for.</param>
    public Requests(int keys, int[] order)
    {
        _order = order;
        _keys = new byte[(long)keys * KeyBytes];
        for (var number = 0; number < keys; number++)
        {
            WriteKey(number, _keys.AsSpan(number * KeyBytes, KeyBytes));
        }

        _texts = new Lazy<string[]>(() =>
            [.. Enumerable.Range(0, keys).Select(number => Encoding.ASCII.GetString(_keys, number * KeyBytes, KeyBytes))]);
        _memories = new Lazy<ReadOnlyMemory<byte>[]>(() =>
            [.. _order.Select(number => new ReadOnlyMemory<byte>(_keys, number * KeyBytes, KeyBytes))]);
    }

    /// <summary>How many requests there are.</summary>
    public int Count => _order.Length;

    /// <summary>The keys in the order of the requests, for operations that take many.</summary>
    public ReadOnlyMemory<byte>[] Memories => _memories.Value;

    /// <summary>The key of a request, as bytes.</summary>
    public ReadOnlySpan<byte> Key(int request) => new(_keys, _order[request] * KeyBytes, KeyBytes);

    /// <summary>The same requests with string keys, which are made when they are first wanted.</summary>
    public TextRequests AsTexts() => new(_texts.Value, _order);

    /// <summary>The key called <paramref name="number"/>.</summary>
    public static void WriteKey(int number, Span<byte> key)
    {
        "book:"u8.CopyTo(key);
        if (!number.TryFormat(key["book:"u8.Length..KeyBytes], out _, "D15", CultureInfo.InvariantCulture))
        {
            throw new ArgumentException($"A key takes {KeyBytes} bytes.", nameof(key));
        }
    }
}

/// <summary>Requests with string keys.</summary>
internal sealed class TextRequests(string[] keys, int[] order)
{
    public int Count => order.Length;

    /// <summary>The key of a request, as a string.</summary>
    public string Key(int request) => keys[order[request]];
}
