using System.Runtime.CompilerServices;
using System.Text;
using Cairn.Server.Metrics;
using Cairn.Server.Resp.Tracking;

namespace Cairn.Server.Tests.Resp;

/// <summary>Limits on the memory and the time that RESP clients use.</summary>
public sealed class RespLimitTests : IDisposable
{
    private readonly RespHost _host = new();

    public void Dispose() => _host.Dispose();

    [Fact]
    public void Name_of_a_client_has_at_most_1024_bytes()
    {
        RespClient client = _host.Connect();
        string longest = new('n', 1024);
        const string TooLong = "-ERR a name has at most 1024 bytes\r\n";

        Assert.Equal("+OK\r\n+OK\r\n+OK\r\n", client.Run(
            $"CLIENT SETNAME {longest}", $"CLIENT SETINFO LIB-NAME {longest}", $"CLIENT SETINFO LIB-VER {longest}"));
        Assert.Equal(TooLong + TooLong + TooLong + TooLong, client.Run(
            $"CLIENT SETNAME {longest}n", $"CLIENT SETINFO LIB-NAME {longest}n", $"CLIENT SETINFO LIB-VER {longest}n", $"HELLO 2 SETNAME {longest}n"));
        Assert.Equal($"$1024\r\n{longest}\r\n", client.Run("CLIENT GETNAME"));
    }

    [Fact]
    public void Slow_log_has_the_beginning_of_a_long_name()
    {
        _host.Server.Metrics.SlowLog.Threshold = TimeSpan.Zero;
        RespClient client = _host.Connect();

        client.Run($"CLIENT SETNAME {new string('n', 1000)}", "PING", $"GET {new string('k', 1000)}");

        SlowRequest slow = _host.Server.Metrics.SlowLog.Latest(1)[0];
        Assert.Equal(SlowRequest.MaxArgumentBytes, slow.ClientName.Length);
    }

    [Fact]
    public void Client_follows_at_most_256_prefixes()
    {
        RespClient client = _host.Connect();
        string Prefixes(int first, int count) => string.Concat(Enumerable.Range(first, count).Select(i => $" PREFIX {i:D6}"));
        const string TooMany = "-ERR a client follows at most 256 prefixes\r\n";

        Assert.Equal(TooMany, client.Run($"CLIENT TRACKING ON BCAST{Prefixes(0, 257)}"));
        Assert.Equal("-ERR a prefix that a client follows has at most 256 bytes\r\n", client.Run($"CLIENT TRACKING ON BCAST PREFIX {new string('p', 257)}"));
        Assert.Equal("+OK\r\n", client.Run($"CLIENT TRACKING ON BCAST{Prefixes(0, 256)}"));
        Assert.Equal(TooMany, client.Run("CLIENT TRACKING ON BCAST PREFIX other"));
        Assert.Equal("+OK\r\n+OK\r\n", client.Run("CLIENT TRACKING OFF", "CLIENT TRACKING ON BCAST PREFIX other"));
    }

    [Fact]
    public void Pattern_has_at_most_256_bytes_from_its_first_star_on()
    {
        RespClient client = _host.Connect();
        string longest = new string('b', 1000) + "*" + new string('p', 255);
        const string TooLong = "-ERR a pattern has at most 256 bytes from its first * on\r\n";
        client.Run("HSET hash field value");

        foreach (string command in new[] { "PSUBSCRIBE ", "KEYS ", "SCAN 0 MATCH ", "HSCAN hash 0 MATCH ", "PUBSUB CHANNELS ", "CONFIG GET " })
        {
            Assert.Equal(TooLong, client.Run($"{command}{longest}p"));
            Assert.DoesNotContain(TooLong, client.Run("HELLO 3", command + longest), StringComparison.Ordinal);
        }

        Assert.Equal(1, client.Session.SubscriptionCount);
    }

    [Fact]
    public void Client_subscribes_to_at_most_1024_patterns()
    {
        RespClient client = _host.Connect();
        client.Run("HELLO 3", $"PSUBSCRIBE{string.Concat(Enumerable.Range(0, 1024).Select(i => $" {i}*"))}");

        Assert.Equal("-ERR a client subscribes to at most 1024 patterns\r\n", client.Run("PSUBSCRIBE more*"));
        Assert.Equal(1024, client.Session.SubscriptionCount);

        client.Run("PUNSUBSCRIBE 7*");
        Assert.StartsWith(">3", client.Run("PSUBSCRIBE more*"), StringComparison.Ordinal);
    }

    [Fact]
    public void Channel_has_at_most_65536_bytes()
    {
        RespClient client = _host.Connect();
        string longest = new('c', 65_536);
        const string TooLong = "-ERR a channel has at most 65536 bytes\r\n";

        Assert.Equal(TooLong + TooLong, client.Send($"*2\r\n$9\r\nSUBSCRIBE\r\n$65537\r\n{longest}c\r\n*3\r\n$7\r\nPUBLISH\r\n$65537\r\n{longest}c\r\n$1\r\nx\r\n"));
        Assert.Equal($":0\r\n*3\r\n$9\r\nsubscribe\r\n$65536\r\n{longest}\r\n:1\r\n", client.Send(
            $"*3\r\n$7\r\nPUBLISH\r\n$65536\r\n{longest}\r\n$1\r\nx\r\n*2\r\n$9\r\nSUBSCRIBE\r\n$65536\r\n{longest}\r\n"));
    }

    /// <summary>Gets commands whose options can be repeated: their arguments, and the repeated ones.</summary>
    public static TheoryData<string, string> RepeatedOptions => new()
    {
        { "SET k v", "NX" },
        { "GETEX k", "PERSIST" },
        { "COPY a b", "REPLACE" },
        { "EXPIRE k 1", "NX" },
        { "SCAN 0", "COUNT 10" },
        { "HSCAN h 0", "MATCH a*" },
        { "ZRANGE z 0 1", "WITHSCORES" },
        { "MEMORY USAGE k", "SAMPLES 0" },
        { "HELLO 3", "SETNAME a" },
        { "CLIENT KILL", "ID 999999" },
        { "CLIENT TRACKING ON", "NOLOOP" },
        { "FLUSHALL", "ASYNC" },
    };

    [Theory]
    [MemberData(nameof(RepeatedOptions))]
    public void Command_with_options_has_at_most_1024_arguments(string command, string option)
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        string options = string.Concat(Enumerable.Repeat($" {option}", 1024));
        int words = command.StartsWith("CLIENT", StringComparison.Ordinal) || command.StartsWith("MEMORY", StringComparison.Ordinal) ? 2 : 1;
        string name = string.Join('|', command.Split(' ')[..words]).ToLowerInvariant();

        Assert.Equal($"-ERR '{name}' takes at most 1024 arguments\r\n", client.Run(command + options));
        Assert.Equal("+PONG\r\n", client.Run("PING"));
    }

    [Fact]
    public void Settings_are_looked_up_in_turns_of_bounded_length()
    {
        RespClient client = _host.Connect();
        byte[] request = Encoding.ASCII.GetBytes($"*10002\r\n$6\r\nCONFIG\r\n$3\r\nGET\r\n{string.Concat(Enumerable.Repeat("$1\r\nx\r\n", 9_999))}$4\r\nport\r\n");
        int turns = 1;

        while (client.Execute(request, budget: 1) == 0)
        {
            Assert.True(client.Session.HasUnfinishedRequest);
            turns++;
        }

        Assert.InRange(turns, 10_000 / Cairn.Server.Resp.RespSession.ElementsPerTurn, 1000);
        Assert.Equal("*2\r\n$4\r\nport\r\n$1\r\n0\r\n", client.Take());
    }

    [Fact]
    public void Subscriptions_are_given_up_in_turns_of_bounded_length()
    {
        const int Many = 10_000;
        RespClient subscriber = _host.Connect();
        RespClient leaving = _host.Connect();
        RespClient other = _host.Connect();
        string names = string.Concat(Enumerable.Range(0, Many).Select(i => $"$5\r\n{i:D5}\r\n"));
        subscriber.Send($"*{Many + 1}\r\n$9\r\nSUBSCRIBE\r\n{names}");
        leaving.Send($"*{Many + 1}\r\n$9\r\nSUBSCRIBE\r\n{names}");
        int turns = 1;

        while (subscriber.Execute("*1\r\n$5\r\nRESET\r\n"u8, budget: 1) == 0)
        {
            turns++;
        }

        leaving.End();
        Assert.Equal(0, subscriber.Session.SubscriptionCount);
        Assert.InRange(turns, Many / (Cairn.Server.Resp.RespSession.ElementsPerTurn + 10), 20);
        Assert.InRange(leaving.Session.SubscriptionCount, Many - 1000, Many - 1);
        Assert.Equal("*2\r\n$5\r\n09999\r\n:1\r\n", other.Run("PUBSUB NUMSUB 09999"));

        leaving.Take();
        Assert.Equal("*0\r\n", other.Run("PUBSUB CHANNELS"));
        leaving.Held.Release();
        Assert.Equal(0, leaving.Held.Account.Bytes);
    }

    [Fact]
    public void Messages_that_wait_count_with_all_that_they_take()
    {
        RespClient subscriber = _host.Connect();
        RespClient publisher = _host.Connect();
        subscriber.Run("SUBSCRIBE c");

        long before = subscriber.Held.Account.Bytes;
        for (int i = 0; i < 1000; i++)
        {
            publisher.Run("PUBLISH c x");
        }

        Assert.InRange(publisher.Held.Account.Bytes, 1000 * 256, 1000 * 1024);
        Assert.InRange(subscriber.Held.Account.Bytes - before, 1000 * 32, 1000 * 128);
        Assert.InRange(subscriber.Held.Bytes, 1000 * 256, 1000 * 1024);

        subscriber.Take();
        Assert.Equal(0, publisher.Held.Account.Bytes);
        Assert.Equal(before, subscriber.Held.Account.Bytes);
    }

    [Fact]
    public void Client_that_left_is_not_kept_by_the_keys_that_it_read()
    {
        RespClient follower = _host.Connect();
        follower.Run("HELLO 3", "CLIENT TRACKING ON");
        WeakReference left = ReadAndLeave();

        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();

        Assert.False(left.IsAlive);
        follower.Run("GET key");
        _host.Connect().Run("SET key 2");
        Assert.Contains("invalidate", follower.Take(), StringComparison.Ordinal);

        [MethodImpl(MethodImplOptions.NoInlining)]
        WeakReference ReadAndLeave()
        {
            RespClient reader = _host.Connect();
            reader.Run("HELLO 3", "CLIENT TRACKING ON", "GET key");
            reader.End();
            return new WeakReference(reader.Session);
        }
    }

    [Fact]
    public void Readers_of_a_key_that_have_left_take_no_memory_for_long()
    {
        RespClient follower = _host.Connect();
        follower.Run("HELLO 3", "CLIENT TRACKING ON", "GET key");

        for (int i = 0; i < 2000; i++)
        {
            RespClient reader = _host.Connect();
            reader.Run("HELLO 3", "CLIENT TRACKING ON", "GET key");
            reader.End();
        }

        Assert.InRange(_host.Server.Tracking.KeyBytes, 1, 4096);
        _host.Connect().Run("SET key 2");
        Assert.Contains("invalidate", follower.Take(), StringComparison.Ordinal);
        Assert.Equal(0, _host.Server.Tracking.KeyBytes);
    }
}
