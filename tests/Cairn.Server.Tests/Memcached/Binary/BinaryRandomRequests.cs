using System.Buffers.Binary;
using System.Globalization;
using static Cairn.Server.Tests.Memcached.Binary.BinaryRequest;

namespace Cairn.Server.Tests.Memcached.Binary;

/// <summary>
/// Mostly valid requests on few keys, so that they collide. Times are long and differ widely, so that no result depends on when a request
/// is executed.
/// </summary>
internal static class BinaryRandomRequests
{
    private static readonly uint[] s_times = [0, 0, 0, 10_100, 2_592_001];
    private static readonly byte[] s_readers = [Get, GetQ, GetK, GetKQ];
    private static readonly byte[] s_stores = [Set, Set, SetQ, Add, AddQ, Replace, ReplaceQ];
    private static readonly byte[] s_joins = [Append, AppendQ, Prepend, PrependQ];
    private static readonly byte[] s_counts = [Increment, IncrementQ, Decrement, DecrementQ];
    private static readonly byte[] s_touches = [Touch, Gat, GatQ, GatK, GatKQ];

    /// <summary>Creates some requests in one piece.</summary>
    public static byte[] Make(Random random, int count) => [.. Enumerable.Range(0, count).SelectMany(_ => Make(random))];

    /// <summary>Changes a few bytes of the headers of requests.</summary>
    public static byte[] Break(Random random, byte[] requests)
    {
        for (int changes = random.Next(1, 4); changes > 0; changes--)
        {
            List<int> starts = StartsOf(requests);
            int place = Math.Min(starts[random.Next(starts.Count)] + random.Next(24), requests.Length - 1); // The last header may have lost bytes.
            bool isOpcode = starts.Contains(place - 1);
            requests[place] = isOpcode ? KnownOpcode(random) : (byte)(random.Next(2) == 0 ? random.Next(256) : random.Next(10));
            if (random.Next(4) == 0)
            {
                int removed = random.Next(requests.Length);
                requests = [.. requests[..removed], .. requests[(removed + 1)..]];
            }
        }

        return requests;
    }

    /// <summary>Returns some positions in the input, ascending.</summary>
    public static int[] Cuts(Random random, byte[] requests) =>
        [.. Enumerable.Range(0, random.Next(6)).Select(_ => random.Next(requests.Length)).Order()];

    // memcached skips too many bytes after an unknown opcode. Its statistics differ.
    private static byte KnownOpcode(Random random)
    {
        byte opcode;
        do
        {
            opcode = (byte)random.Next(GatKQ + 1);
        }
        while (opcode is Verbosity or Stat or (>= 0x1f and <= 0x22)); // SASL is unknown without users.

        return opcode;
    }

    // The starts of the requests, as far as their lengths are valid.
    private static List<int> StartsOf(byte[] requests)
    {
        var starts = new List<int>();
        long position = 0;
        while (position + 24 <= requests.Length)
        {
            starts.Add((int)position);
            position += 24 + BinaryPrimitives.ReadUInt32BigEndian(requests.AsSpan((int)position + 8));
        }

        return starts.Count == 0 ? [0] : starts;
    }

    private static byte[] Make(Random random)
    {
        string value = random.Next(3) == 0 ? Text(random.Next(200)) : new string((char)random.Next('a', 'e'), random.Next(40));
        byte[] request = random.Next(16) switch
        {
            < 4 => BinaryRequest.Make(One(s_readers), random.Next(3) == 0 ? Number() : Key()),
            4 or 5 or 6 => Store(One(s_stores), Key(), value, random.Next(3) == 0 ? 7u : 0, One(s_times)),
            7 => Store(Set, Number(), Text(random.Next(100))),
            8 or 9 => BinaryRequest.Make(One(s_joins), Key(), value: value),
            10 or 11 => Count(One(s_counts), Number(), (ulong)random.Next(100), (ulong)random.Next(100), random.Next(3) == 0 ? NoCreation : One(s_times)),
            12 => BinaryRequest.Make(random.Next(2) == 0 ? Delete : DeleteQ, Key()),
            13 => WithTime(One(s_touches), Key(), One(s_times)),
            14 => random.Next(5) == 0 ? BinaryRequest.Make(random.Next(2) == 0 ? Flush : FlushQ) : BinaryRequest.Make(ShowVersion),
            _ => BinaryRequest.Make(Noop),
        };
        BinaryPrimitives.WriteInt32BigEndian(request.AsSpan(12), random.Next(1_000_000));
        if (random.Next(30) == 0)
        {
            BinaryPrimitives.WriteUInt64BigEndian(request.AsSpan(16), 1UL << 60);
        }

        return request;

        static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
        string Key() => "k" + Text(random.Next(4));
        string Number() => "count" + Text(random.Next(2));
        T One<T>(T[] items) => items[random.Next(items.Length)];
    }
}
