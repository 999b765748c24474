using System.Globalization;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Hybrid;

// The requested customers, with keys like "customer:1000012345". Each request has its own key string, as in an application that creates
// the string for the call. The strings lie in memory in the order of the requests, and no cache holds any of these objects. The same few
// thousand requests are repeated, so that the strings are in the processor's cache, as new strings are.
internal sealed class CustomerRequests
{
    // All identifiers have ten digits, so that all keys have the same length.
    private const int FirstId = 1_000_000_000;
    private const int DistinctRequests = 16 * 1024;

    private readonly int[] _ids;
    private readonly string[] _keys;

    private CustomerRequests(int[] ids)
    {
        _ids = ids;
        _keys = [.. ids.Select(KeyOf)];
    }

    /// <summary>Gets the number of requests before they repeat.</summary>
    public int Count => _ids.Length;

    /// <summary>Gets the number of passes over all requests in a round.</summary>
    public int Passes { get; private init; }

    public static CustomerRequests Draw(int entries, int operations, int seed)
    {
        var numbers = KeyNumbers.Draw(Distribution.Uniform, entries, Math.Min(operations, DistinctRequests), seed);
        return new CustomerRequests([.. numbers.Select(IdOf)]) { Passes = Math.Max(1, operations / numbers.Length) };
    }

    /// <summary>Draws one request for each operation; a round repeats none of them.</summary>
    public static CustomerRequests DrawLong(int entries, int operations, int seed) =>
        new([.. KeyNumbers.Draw(Distribution.Uniform, entries, operations, seed).Select(IdOf)]) { Passes = 1 };

    public string Key(int request) => _keys[request];

    public int Id(int request) => _ids[request];

    /// <summary>Returns <paramref name="count"/> consecutive keys.</summary>
    public ArraySegment<string> Keys(int first, int count) => new(_keys, first, count);

    /// <summary>Returns the key of the customer with a number, from 0, as a new string.</summary>
    public static string KeyOfNumber(int number) => KeyOf(IdOf(number));

    private static int IdOf(int number) => FirstId + number;

    private static string KeyOf(int id) => string.Create(CultureInfo.InvariantCulture, $"customer:{id}");
}
