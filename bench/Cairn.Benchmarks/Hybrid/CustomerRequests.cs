using System.Globalization;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Hybrid;

// The customers that are asked for, with keys like "customer:1000012345". As for the store, a request brings its key with it, as a
// new string does that was put together for a call: the strings lie in memory in the order of the requests, and none is an object
// that a cache holds. A few thousand requests are gone over again and again, so that the strings are as near to the processor as
// new ones are.
internal sealed class CustomerRequests
{
    // All identifiers have ten digits, so that "customer:{id}" is as long for each.
    private const int FirstId = 1_000_000_000;
    private const int DistinctRequests = 16 * 1024;

    private readonly int[] _ids;
    private readonly string[] _keys;

    private CustomerRequests(int[] ids)
    {
        _ids = ids;
        _keys = [.. ids.Select(KeyOf)];
    }

    /// <summary>Requests until they repeat.</summary>
    public int Count => _ids.Length;

    /// <summary>How often all are gone over in a round.</summary>
    public int Passes { get; private init; }

    public static CustomerRequests Draw(int entries, int operations, int seed)
    {
        var numbers = KeyNumbers.Draw(Distribution.Uniform, entries, Math.Min(operations, DistinctRequests), seed);
        return new CustomerRequests([.. numbers.Select(IdOf)]) { Passes = Math.Max(1, operations / numbers.Length) };
    }

    /// <summary>As many requests as operations, none of which is repeated in a round.</summary>
    public static CustomerRequests DrawLong(int entries, int operations, int seed) =>
        new([.. KeyNumbers.Draw(Distribution.Uniform, entries, operations, seed).Select(IdOf)]) { Passes = 1 };

    public string Key(int request) => _keys[request];

    public int Id(int request) => _ids[request];

    /// <summary>Some keys that follow each other.</summary>
    public ArraySegment<string> Keys(int first, int count) => new(_keys, first, count);

    /// <summary>The key of the customer with a number from 0 on, as a new string.</summary>
    public static string KeyOfNumber(int number) => KeyOf(IdOf(number));

    private static int IdOf(int number) => FirstId + number;

    private static string KeyOf(int id) => string.Create(CultureInfo.InvariantCulture, $"customer:{id}");
}
