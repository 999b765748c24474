using System.Text;
using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Resp;

/// <summary>A session parses and answers requests in the same way for all commands.</summary>
public class RespSessionTests
{
    [Theory]
    [InlineData("PING", "+PONG\r\n")]
    [InlineData("ping hello", "$5\r\nhello\r\n")]
    [InlineData("PING a b", "-ERR wrong number of arguments for 'ping' command\r\n")]
    [InlineData("GET", "-ERR wrong number of arguments for 'get' command\r\n")]
    [InlineData("CLIENT SETNAME", "-ERR wrong number of arguments for 'client|setname' command\r\n")]
    [InlineData("CLIENT FOO", "-ERR unknown subcommand 'FOO'. Try CLIENT HELP.\r\n")]
    [InlineData("FOO", "-ERR unknown command 'FOO', with args beginning with: \r\n")]
    [InlineData("FOO bar baz", "-ERR unknown command 'FOO', with args beginning with: 'bar' 'baz' \r\n")]
    [InlineData("get@ a", "-ERR unknown command 'get@', with args beginning with: 'a' \r\n")]
    [InlineData("SELECT 0", "+OK\r\n")]
    [InlineData("SELECT 1", "-ERR DB index is out of range\r\n")]
    [InlineData("HELLO 4", "-NOPROTO unsupported protocol version\r\n")]
    [InlineData("GET \"\"", "-ERR a key has 1 to 65536 bytes\r\n")]
    [InlineData("", "")]
    public void Request_is_answered(string request, string reply)
    {
        using var host = new RespHost();

        Assert.Equal(reply, host.Connect().Run(request));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Requests_are_answered_in_order_wherever_they_are_cut(bool looksAhead)
    {
        byte[] requests = Encoding.ASCII.GetBytes(
            "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\nhello\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\nGET b\r\nGET 'a'\r\nGET \"\\x61\"\r\n*1\r\n$4\r\nPING\r\n");

        using var host = new RespHost();
        for (int pieceBytes = 1; pieceBytes <= requests.Length; pieceBytes++)
        {
            Assert.Equal(
                "+OK\r\n$5\r\nhello\r\n$-1\r\n$5\r\nhello\r\n$5\r\nhello\r\n+PONG\r\n", host.Connect(looksAhead).Send(requests, pieceBytes));
        }
    }

    [Theory]
    [InlineData("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nSET a evil\r\n", "")]
    [InlineData("GET / HTTP/1.1\r\nhost: localhost\r\n\r\nSET a evil\r\n", "-ERR wrong number of arguments for 'get' command\r\n")]
    public void Request_of_a_browser_ends_the_connection_before_its_body_is_read(string request, string reply)
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        Assert.Equal(reply, client.Send(Encoding.ASCII.GetBytes(request), request.Length));
        Assert.Equal(CloseReason.ClosedBySession, client.ClosedFor);
        Assert.Equal("$-1\r\n", host.Connect().Run("GET a"));
    }

    [Theory]
    [InlineData("SET a 12345678901")]
    [InlineData("MSET a 12345678901")]
    [InlineData("APPEND a 678901")]
    [InlineData("SETRANGE a 8 xyz")]
    [InlineData("HSET h field 12345678901")]
    public void Value_longer_than_clients_may_set_is_an_error_and_changes_nothing(string request)
    {
        using var host = new RespHost(maxValueBytes: 10);
        RespClient client = host.Connect();
        client.Run("SET a 12345");

        Assert.StartsWith("-ERR", client.Run(request), StringComparison.Ordinal);
        Assert.Equal("$5\r\n12345\r\n:0\r\n", client.Run("GET a") + client.Run("EXISTS h"));
    }

    [Theory]
    [InlineData("SET abcdef 1")]
    [InlineData("MGET a abcdef")]
    [InlineData("GET \"\"")]
    public void Key_longer_than_clients_may_use_is_an_error(string request)
    {
        using var host = new RespHost(maxKeyBytes: 5);

        Assert.Equal("-ERR a key has 1 to 5 bytes\r\n", host.Connect().Run(request));
    }

    [Fact]
    public void Many_keys_of_one_request_are_all_answered()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        string[] keys = [.. Enumerable.Range(0, 1000).Select(i => $"key:{i}")];

        client.Run("MSET " + string.Join(' ', keys.Select(key => $"{key} {key}")));

        Assert.Equal(
            "*1000\r\n" + string.Concat(keys.Select(key => $"${key.Length}\r\n{key}\r\n")), client.Run("MGET " + string.Join(' ', keys)));
    }

    [Fact]
    public void Broken_request_gets_an_error_and_ends_the_connection()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        Assert.Equal("+PONG\r\n-ERR Protocol error: invalid bulk length\r\n", client.Send("PING\r\n*1\r\n$x\r\nPING\r\n"));
        Assert.Equal(CloseReason.ClosedBySession, client.ClosedFor);
    }

    [Fact]
    public void Quit_is_answered_and_ends_the_connection()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        Assert.Equal("+OK\r\n", client.Run("QUIT", "PING"));
        Assert.Equal(CloseReason.ClosedBySession, client.ClosedFor);
    }

    [Fact]
    public void Client_that_wants_no_replies_gets_none()
    {
        using var host = new RespHost();

        Assert.Equal(
            "$1\r\n1\r\n+OK\r\n$1\r\n4\r\n",
            host.Connect().Run("ECHO 1", "CLIENT REPLY SKIP", "ECHO 2", "CLIENT REPLY OFF", "ECHO 3", "CLIENT REPLY ON", "ECHO 4"));
    }

    [Fact]
    public void Resp3_is_spoken_from_HELLO_on()
    {
        using var host = new RespHost();

        string reply = host.Connect().Run("GET a", "HELLO 3 SETNAME reader", "GET a", "CLIENT GETNAME", "RESET", "GET a");

        Assert.StartsWith("$-1\r\n%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n", reply, StringComparison.Ordinal);
        Assert.EndsWith("_\r\n$6\r\nreader\r\n+RESET\r\n$-1\r\n", reply, StringComparison.Ordinal);
    }

    [Fact]
    public void Values_of_any_length_come_back_whole()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();

        foreach (int length in new[] { 0, 1, 9, 10, 99, 100, 400, 600, 999, 1_000, 10_000, 99_999, 100_000, 1_000_000, 3 })
        {
            string value = new('v', length);
            Assert.Equal("+OK\r\n", client.Send($"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${length}\r\n{value}\r\n"));
            Assert.Equal($"${length}\r\n{value}\r\n", client.Run("GET k"));
        }
    }

    [Fact]
    public void Value_that_the_store_cannot_hold_is_refused_and_the_old_one_stays()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        int length = host.Store.MaxValueBytes + 1;

        string reply = client.Run("SET k old") + client.Send($"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${length}\r\n{new string('v', length)}\r\n") + client.Run("GET k");

        Assert.Equal("+OK\r\n-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n$3\r\nold\r\n", reply);
    }

    [Fact]
    public void Client_is_listed_while_it_is_connected_and_can_be_killed()
    {
        using var host = new RespHost();
        RespClient first = host.Connect();
        RespClient second = host.Connect();
        second.Run("CLIENT SETNAME victim");

        Assert.Contains(" name=victim ", first.Run("CLIENT LIST"), StringComparison.Ordinal);
        Assert.Equal(":1\r\n", first.Run("CLIENT KILL ID 2"));
        Assert.Equal(CloseReason.KilledAtOnce, second.ClosedFor);

        second.End();
        Assert.DoesNotContain(" name=victim ", first.Run("CLIENT LIST"), StringComparison.Ordinal);
    }
}
