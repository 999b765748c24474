using System.Globalization;
using System.Text;

namespace Cairn.Benchmarks.Store;

// The keys that are asked for, one after the other in memory, in the order in which they are asked for, all made before anything is
// measured: a request brings its key with it, as the line of a protocol or the argument of a call does, so fetching keys
// from a table in random order is nobody's work here. The strings are not the objects that a peer holds.
internal sealed class Requests
{
    /// <summary>Length of every key, in bytes and in characters.</summary>
    public const int KeyBytes = 20;

    private readonly byte[] _keys;
    private readonly Lazy<string[]> _texts;
    private readonly Lazy<ReadOnlyMemory<byte>[]> _memories;

    /// <param name="order">Numbers of keys in the order in which they are asked for.</param>
    public Requests(int[] order)
    {
        Count = order.Length;
        _keys = new byte[(long)Count * KeyBytes];
        for (var request = 0; request < Count; request++)
        {
            WriteKey(order[request], _keys.AsSpan(request * KeyBytes, KeyBytes));
        }

        _texts = new Lazy<string[]>(() =>
            [.. Enumerable.Range(0, Count).Select(request => Encoding.ASCII.GetString(_keys, request * KeyBytes, KeyBytes))]);
        _memories = new Lazy<ReadOnlyMemory<byte>[]>(() =>
            [.. Enumerable.Range(0, Count).Select(request => new ReadOnlyMemory<byte>(_keys, request * KeyBytes, KeyBytes))]);
    }

    /// <summary>How many requests there are.</summary>
    public int Count { get; }

    /// <summary>The keys in the order of the requests, for operations that take many.</summary>
    public ReadOnlyMemory<byte>[] Memories => _memories.Value;

    /// <summary>The key of a request, as bytes.</summary>
    public ReadOnlySpan<byte> Key(int request) => new(_keys, request * KeyBytes, KeyBytes);

    /// <summary>The same requests with string keys, which are made when they are first wanted.</summary>
    public TextRequests AsTexts() => new(_texts.Value);

    /// <summary>The key called <paramref name="number"/>, as a new string.</summary>
    public static string TextKey(int number)
    {
        Span<byte> key = stackalloc byte[KeyBytes];
        WriteKey(number, key);
        return Encoding.ASCII.GetString(key);
    }

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
internal sealed class TextRequests(string[] keys)
{
    public int Count => keys.Length;

    /// <summary>The key of a request, as a string.</summary>
    public string Key(int request) => keys[request];
}
