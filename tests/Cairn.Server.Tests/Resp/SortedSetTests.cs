using System.Globalization;

namespace Cairn.Server.Tests.Resp;

/// <summary>Sorted sets of many members.</summary>
public class SortedSetTests
{
    private const int Members = 5_000;

    [Fact]
    public void Many_members_are_in_the_order_of_their_scores_however_they_were_set()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        var random = new Random(1);
        var model = new Dictionary<string, int>();

        for (int round = 0; round < 6; round++)
        {
            (string Member, int Score)[] changed = [.. Enumerable.Range(0, Members / 2).Select(_ => ($"m{random.Next(Members)}", random.Next(100)))];
            client.Run("ZADD z " + string.Join(' ', changed.Select(change => $"{change.Score} {change.Member}")));
            foreach ((string member, int score) in changed)
            {
                model[member] = score;
            }

            string[] removed = [.. Enumerable.Range(0, 300).Select(_ => $"m{random.Next(Members)}")];
            client.Run("ZREM z " + string.Join(' ', removed));
            int low = random.Next(90);
            client.Run($"ZREMRANGEBYSCORE z {low} ({low + 3}");
            foreach (string member in model.Where(pair => removed.Contains(pair.Key) || (pair.Value >= low && pair.Value < low + 3)).Select(pair => pair.Key).ToArray())
            {
                model.Remove(member);
            }

            string[] expected = [.. model.OrderBy(pair => pair.Value).ThenBy(pair => pair.Key, StringComparer.Ordinal).Select(pair => pair.Key)];
            Assert.Equal(expected, Elements(client.Run("ZRANGE z 0 -1")));
            Assert.Equal(expected.Reverse(), Elements(client.Run("ZRANGE z 0 -1 REV")));
            Assert.Equal(expected.Where(member => model[member] is > 20 and <= 40), Elements(client.Run("ZRANGEBYSCORE z (20 40")));
            Assert.Equal(string.Create(CultureInfo.InvariantCulture, $":{Array.IndexOf(expected, "m7")}\r\n"), client.Run("ZRANK z m7").Replace("$-1", ":-1", StringComparison.Ordinal));
        }
    }

    [Fact]
    public void Set_that_would_be_too_long_is_refused_and_stays_as_it_was()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        const int fitting = 13_107;
        string Add(int first, int count) => client.Send(ReplyTexts.Encode(
            ["ZADD", "z", .. Enumerable.Range(first, count).SelectMany(i => new[] { i.ToString(CultureInfo.InvariantCulture), i.ToString("D60", CultureInfo.InvariantCulture) })]));

        Assert.Equal($":{fitting}\r\n", Add(0, fitting));
        Assert.Equal("-ERR a hash, set or sorted set has at most 1 MiB, its directory counted\r\n", Add(fitting, 1));
        Assert.Equal($":{fitting}\r\n", client.Run("ZCARD z"));
    }

    [Fact]
    public void Sorted_set_is_neither_a_value_nor_a_hash_nor_a_set()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("ZADD z 1 a");

        foreach (string request in new[] { "HGET z a", "SMEMBERS z", "GET z", "SADD z a", "HSET z a 1" })
        {
            Assert.StartsWith("-WRONGTYPE", client.Run(request), StringComparison.Ordinal);
        }

        Assert.Null(host.Store.DefaultCollection.Get("z"));
    }

    private static IEnumerable<string> Elements(string reply) => reply.Split("\r\n").Skip(2).Where((_, i) => i % 2 == 0);
}
