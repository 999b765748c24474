namespace Cairn.Server.Tests.Resp;

/// <summary>Behaviour of key commands that a comparison with Redis does not show: time, scans, and the view of other protocols.</summary>
public class KeyTests
{
    [Fact]
    public void Scan_of_few_keys_ends_in_one_call()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        Assert.True(host.Store.Engine.BucketCount > 10_000, "The index is too small for the test.");

        Assert.Equal("*2\r\n$1\r\n0\r\n*0\r\n", client.Run("SCAN 0"));
        client.Run("SET key value");
        Assert.Equal("*2\r\n$1\r\n0\r\n*1\r\n$3\r\nkey\r\n", client.Run("SCAN 0"));
    }

    [Fact]
    public void Key_is_there_until_its_time_and_gone_at_it()
    {
        var clock = new ManualClock();
        using var host = new RespHost(clock);
        RespClient client = host.Connect();
        client.Run("SET k v PX 1500");

        Assert.Equal(":2\r\n:1500\r\n", client.Run("TTL k", "PTTL k"));
        clock.Advance(TimeSpan.FromMilliseconds(1499));
        Assert.Equal("$1\r\nv\r\n:1\r\n", client.Run("GET k", "PTTL k"));
        clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal("$-1\r\n:-2\r\n:0\r\n", client.Run("GET k", "PTTL k", "EXISTS k"));
    }

    [Fact]
    public void Scan_finds_every_key_once()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        for (int i = 0; i < 1000; i++)
        {
            client.Run($"SET key:{i} v");
        }

        var found = new List<string>();
        string cursor = "0";
        do
        {
            string[] lines = client.Run($"SCAN {cursor} COUNT 50 MATCH key:*").Split("\r\n");
            cursor = lines[2];
            found.AddRange(lines.Where(line => line.StartsWith("key:", StringComparison.Ordinal)));
        }
        while (cursor != "0");

        Assert.Equal(1000, found.Count);
        Assert.Equal(1000, found.Distinct().Count());
        Assert.Equal(":1000\r\n", client.Run("DBSIZE"));
    }

    [Fact]
    public void Values_are_those_of_the_store_itself()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        host.Store.DefaultCollection.Set("there", "from the store"u8);

        client.Run("SET here \"from a client\"");

        Assert.Equal("$14\r\nfrom the store\r\n", client.Run("GET there"));
        Assert.Equal("from a client", host.Store.DefaultCollection.GetString("here"));
    }

    [Fact]
    public void Many_keys_are_set_at_one_moment_for_other_writers()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        Assert.Equal("+OK\r\n:0\r\n:1\r\n", client.Run("MSET a 1 b 2 a 3", "MSETNX c 1 a 2", "MSETNX c 1 d 2"));
        Assert.Equal("*5\r\n$1\r\n3\r\n$1\r\n2\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n", client.Run("MGET a b c d e"));
        Assert.True(host.Store.DefaultCollection.Set("a", "free again"u8));
    }
}
