using Cairn.Server.Resp.Hashes;

namespace Cairn.Server.Tests.Resp;

/// <summary>Hashes as entries of the store.</summary>
public class HashTests
{
    [Fact]
    public void Fields_are_scanned_without_their_values()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("HSET h a 1 b 2", "ZADD z 1 a");

        Assert.Equal("*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n", client.Run("HSCAN h 0 NOVALUES"));
        Assert.Equal("*2\r\n$1\r\n0\r\n*1\r\n$1\r\nb\r\n", client.Run("HSCAN h 0 COUNT 5 NOVALUES MATCH b"));
        Assert.Equal("-ERR syntax error\r\n", client.Run("ZSCAN z 0 NOVALUES"));
    }

    [Fact]
    public void Hash_that_is_changed_by_many_fields_at_once_is_as_if_they_were_changed_one_by_one()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        Change("HSET", [.. Enumerable.Range(0, 300)], "v");
        Change("HDEL", [.. Enumerable.Range(0, 320).Where(i => i % 3 != 0), 1, 2, 3]);
        Change("HSET", [.. Enumerable.Range(100, 300), 100, 101], "w");
        Change("HDEL", [.. Enumerable.Range(0, 399)]);
        Change("HSET", [399, 5, 5, 6], "x");
        Change("HDEL", [.. Enumerable.Range(0, 400)]);

        void Change(string command, int[] fields, string? value = null)
        {
            long counted = 0;
            foreach (int field in fields)
            {
                counted += Number(client.Run($"{command} single f{field} {value}"));
            }

            string all = string.Concat(fields.Select(field => $" f{field} {value}"));
            Assert.Equal(counted, Number(client.Run($"{command} many{all}")));
            Assert.Equal(client.Run("HGETALL single"), client.Run("HGETALL many"));
        }

        static long Number(string reply) => long.Parse(reply.AsSpan(1).TrimEnd("\r\n"), System.Globalization.CultureInfo.InvariantCulture);
    }

    [Fact]
    public void Hash_of_many_fields_gives_each_of_them()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        string[] pairs = [.. Enumerable.Range(0, 500).Select(i => $"field:{i} value:{i}")];

        Assert.Equal(":500\r\n", client.Run("HSET h " + string.Join(' ', pairs)));
        for (int i = 0; i < 500; i++)
        {
            string value = $"value:{i}";
            Assert.Equal($"${value.Length}\r\n{value}\r\n", client.Run($"HGET h field:{i}"));
        }
    }

    [Fact]
    public void Hash_that_would_be_too_long_is_refused_and_stays_as_it_was()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        string value = new('v', HashView.MaxBytes - 100);
        string Set(string field) => $"*4\r\n$4\r\nHSET\r\n$1\r\nh\r\n$1\r\n{field}\r\n${value.Length}\r\n{value}\r\n";

        Assert.Equal(":1\r\n", client.Send(Set("a")));
        Assert.Equal("-ERR a hash, set or sorted set has at most 1 MiB, its directory counted\r\n", client.Send(Set("b")));
        Assert.Equal("*1\r\n$1\r\na\r\n", client.Run("HKEYS h"));
    }

    [Fact]
    public void Reads_of_values_do_not_find_a_hash_but_its_key_is_taken()
    {
        using var host = new RespHost();
        host.Connect().Run("HSET h a 1");

        Assert.Null(host.Store.DefaultCollection.Get("h"));
        Assert.Equal(WriteStatus.Exists, host.Store.DefaultCollection.Add("h", "value"u8));
        Assert.Equal(WriteStatus.NotFound, host.Store.DefaultCollection.Append("h", "value"u8));
        Assert.True(host.Store.DefaultCollection.Remove("h"));
    }

    [Fact]
    public void Damaged_bytes_have_no_fields_or_give_none()
    {
        byte[] bytes = [2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255, 9, 0, 0, 0, 7, 0, 0, 0];

        Assert.Equal(0, new HashView(bytes.AsSpan(0, 12)).Count);
        Assert.False(new HashView(bytes).TryGet(0, out _, out _));
        Assert.False(new HashView(bytes).TryGet(1, out _, out _));
        Assert.Equal(-1, new HashView(bytes).Find("field"u8));
    }
}
