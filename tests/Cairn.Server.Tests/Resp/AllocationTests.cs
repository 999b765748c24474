using System.Text;

namespace Cairn.Server.Tests.Resp;

/// <summary>Commands allocate nothing after a session has executed similar ones.</summary>
public class AllocationTests
{
    private const int WarmUpRounds = 200;
    private const int Rounds = 200;

    [Theory]
    [InlineData("GET text", "GET none", "GET long")]
    [InlineData("SET text value", "SET new value", "DEL new", "SET text value EX 100", "SETEX text 100 value", "SET text value KEEPTTL")]
    [InlineData("MGET text none number text long", "MSET a 1 b 2 c 3", "GETSET text value", "GETRANGE text 1 2", "STRLEN text")]
    [InlineData("INCR number", "DECRBY number 3", "SETNX number 1")]
    [InlineData("DEL text none", "SET text value", "UNLINK text", "SET text value", "EXISTS text none", "TOUCH text", "TYPE text")]
    [InlineData("EXPIRE text 100", "PEXPIRE text 100000", "TTL text", "PTTL text", "PERSIST text")]
    [InlineData("HSET hash f 1 g 2", "HGET hash f", "HGET hash none", "HMGET hash f g", "HGETALL hash", "HINCRBY hash f 1", "HDEL hash g")]
    [InlineData("SADD set a b c", "SISMEMBER set a", "SMEMBERS set", "SREM set b", "SCARD set", "TYPE set")]
    [InlineData("ZADD sorted 1 a 2 b", "ZADD sorted GT 3 a", "ZSCORE sorted a", "ZRANGE sorted 0 -1", "ZREMRANGEBYSCORE sorted 0 2", "ZSCAN sorted 0")]
    [InlineData("SET short a", "APPEND short bcd", "SETRANGE short 2 xyz", "GETDEL short")]
    [InlineData("SCAN 0", "SCAN 0 COUNT 1000", "SCAN 0 TYPE hash")]
    [InlineData("PUBLISH channel message", "PUBLISH unread message")]
    [InlineData("PING", "ECHO text", "CLIENT ID", "SELECT 0")]
    public void Nothing_is_allocated_for(params string[] requests)
    {
        using var host = new RespHost();
        host.Server.Metrics.SlowLog.Threshold = Timeout.InfiniteTimeSpan; // The entries of the slow log are allocated.
        RespClient client = host.Connect();
        RespClient subscriber = host.Connect();
        subscriber.Run("SUBSCRIBE channel", "PSUBSCRIBE ch*");
        client.Run("SET text value", "SET number 1", "SET long " + new string('x', 3000), "HSET hash f 1 g 2");
        byte[] input = Encoding.ASCII.GetBytes(string.Concat(requests.Select(Encode)));
        Run(WarmUpRounds);

        long before = GC.GetAllocatedBytesForCurrentThread();
        Run(Rounds);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        Assert.Equal(0, allocated);

        void Run(int rounds)
        {
            for (int i = 0; i < rounds; i++)
            {
                int executed = 0;
                for (int turn = 0; turn < 10 && executed < input.Length; turn++)
                {
                    executed += client.Execute(input.AsSpan(executed), budget: 100);
                }

                if (executed != input.Length)
                {
                    throw new InvalidOperationException("A request was not executed."); // An assertion would allocate.
                }

                client.Drop();
                subscriber.Drop();
            }
        }
    }

    private static string Encode(string request)
    {
        string[] words = request.Split(' ');
        return $"*{words.Length}\r\n" + string.Concat(words.Select(word => $"${word.Length}\r\n{word}\r\n"));
    }
}
