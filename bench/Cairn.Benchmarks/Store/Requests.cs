using System.Globalization;
using System.Text;

namespace Cairn.Benchmarks.Store;

// The requested keys, stored one after the other in the order of the requests and created before the measurement. A request brings its key with
// it, as a line of a protocol or the argument of a call does. So no contender pays for fetching keys from a table in random order. The strings
// are not the objects that a peer holds.
internal sealed class Requests
{
    /// <summary>The length of every key, in bytes and in characters.</summary>
    public const int KeyBytes = 20;

    private readonly byte[] _keys;
    private readonly Lazy<string[]> _texts;
    private readonly Lazy<ReadOnlyMemory<byte>[]> _memories;

    /// <param name="order">The numbers of the keys in the order of the requests.</param>
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

    /// <summary>Gets the number of requests.</summary>
    public int Count { get; }

    /// <summary>Gets the keys in the order of the requests, for operations that take many.</summary>
    public ReadOnlyMemory<byte>[] Memories => _memories.Value;

    /// <summary>Returns the key of a request as bytes.</summary>
    public ReadOnlySpan<byte> Key(int request) => new(_keys, request * KeyBytes, KeyBytes);

    /// <summary>Returns the same requests with string keys, which are created on first use.</summary>
    public TextRequests AsTexts() => new(_texts.Value);

    /// <summary>Returns the key with <paramref name="number"/> as a new string.</summary>
    public static string TextKey(int number)
    {
        Span<byte> key = stackalloc byte[KeyBytes];
        WriteKey(number, key);
        return Encoding.ASCII.GetString(key);
    }

    /// <summary>Writes the key with <paramref name="number"/>.</summary>
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

    /// <summary>Returns the key of a request as a string.</summary>
    public string Key(int request) => keys[request];
}
