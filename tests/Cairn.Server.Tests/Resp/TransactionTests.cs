using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Resp;

/// <summary>Transactions of several clients, and writes that do not use the protocol.</summary>
public class TransactionTests
{
    [Fact]
    public void Write_of_another_client_to_a_watched_key_stops_the_transaction()
    {
        using var host = new RespHost();
        RespClient first = host.Connect();
        RespClient second = host.Connect();

        first.Run("SET a 1", "WATCH a", "MULTI", "SET a mine");
        second.Run("SET a theirs");

        Assert.Equal("*-1\r\n$6\r\ntheirs\r\n", first.Run("EXEC", "GET a"));
    }

    // EXEC executes the queue in one turn of its worker.
    [Fact]
    public void Queue_of_more_arguments_than_the_longest_mset_is_refused_and_changes_nothing()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        string half = $"*{1 << 16}\r\n$3\r\nDEL\r\n{string.Concat(Enumerable.Repeat("$1\r\na\r\n", (1 << 16) - 1))}";
        client.Run("SET a 1", "MULTI");

        Assert.Equal("+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n", client.Send(half + half) + client.Run("PING"));
        Assert.StartsWith("-ERR the requests queued since MULTI would have more than 131073 arguments", client.Run("SET b 1"), StringComparison.Ordinal);
        Assert.StartsWith("-EXECABORT", client.Run("EXEC"), StringComparison.Ordinal);

        Assert.Equal("$1\r\n1\r\n$-1\r\n", client.Run("GET a", "GET b"));
    }

    [Fact]
    public void Transaction_that_asks_for_more_than_16_MiB_beside_its_longest_value_is_refused_and_changes_nothing()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        host.Store.DefaultCollection.Set("long", new byte[1 << 20]);

        Assert.Contains("EXECABORT", Exec(18), StringComparison.Ordinal);
        Assert.Equal(":0\r\n", client.Run("EXISTS changed"));
        Assert.True(Exec(17).Length > 17 << 20);
        Assert.Equal(":1\r\n", client.Run("EXISTS changed"));

        string Exec(int values) => client.Run(["MULTI", "SET changed 1", .. Enumerable.Repeat("GET long", values), "EXEC"]);
    }

    [Fact]
    public void Transaction_whose_replies_become_longer_than_16_MiB_without_being_known_before_ends_its_connection()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run($"HSET h f {new string('v', 20_000)}");
        string fields = string.Concat(Enumerable.Repeat(" f", 1_000));

        client.Run("MULTI", "HMGET h" + fields, "SET changed 1", "EXEC");

        Assert.Equal(CloseReason.TooMuchOutput, client.ClosedFor);
        Assert.Equal(":0\r\n", host.Connect().Run("EXISTS changed"));
    }

    [Fact]
    public void Write_past_the_server_to_a_watched_key_stops_the_transaction()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        client.Run("WATCH a", "MULTI", "SET a mine");
        host.Store.DefaultCollection.Set("a", "theirs"u8);
        host.Store.DefaultCollection.Remove("a");

        Assert.Equal("*-1\r\n:0\r\n", client.Run("EXEC", "EXISTS a"));
    }

    [Fact]
    public void Watched_key_that_expires_stops_the_transaction()
    {
        var clock = new ManualClock();
        using var host = new RespHost(clock);
        RespClient client = host.Connect();

        client.Run("SET a 1 EX 10", "WATCH a", "MULTI", "SET b 1");
        clock.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal("*-1\r\n", client.Run("EXEC"));
    }

    [Fact]
    public async Task Transactions_of_many_clients_lose_no_increment()
    {
        const int Clients = 4;
        const int Rounds = 200;
        using var host = new RespHost();

        // The transactions take keys in different orders. Without a fixed order of locks they would deadlock.
        await Task.WhenAll(Enumerable.Range(0, Clients).Select(number => OwnThread.Run(() =>
        {
            RespClient client = host.Connect(); // Each thread is a worker with sessions of its own.
            string[] keys = number % 2 == 0 ? ["a", "b", "c"] : ["c", "b", "a"];
            for (int round = 0; round < Rounds; round++)
            {
                string reply = client.Run(["MULTI", .. keys.Select(key => "INCR " + key), "EXEC"]);
                string[] sums = [.. reply.Split("\r\n").Where(line => line.StartsWith(':'))];
                Assert.Equal(3, sums.Length);
                Assert.Single(sums.Distinct()); // No other transaction came between the reads.
            }
        })));

        Assert.Equal("*3\r\n$3\r\n800\r\n$3\r\n800\r\n$3\r\n800\r\n", host.Connect().Run("MGET a b c"));
    }
}
