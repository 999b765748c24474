using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Cairn.Cli.Tests.Serving;

/// <summary>Clients that request much, or hold much, use a bounded amount of the server's memory and do not affect other clients.</summary>
public sealed class ServedMemoryTests
{
    private const int MiB = 1 << 20;
    private const int ValueBytes = 1_000_000;

    // The memory of the runtime, of code compiled meanwhile and of kernel pages, beside the bytes that the server counts.
    private const int Unaccounted = 32 * MiB;

    private const int WhenIdleAgain = 32 * MiB;

    private static readonly byte[] s_value = [.. Request("SET", "b", new string('v', ValueBytes)), .. Request("HSET", "h", "f", new string('v', ValueBytes))];

    [Theory]
    [InlineData("MGET", "uring")]
    [InlineData("MGET", "epoll")]
    [InlineData("HMGET", "epoll")]
    public void Long_reply_is_made_as_its_client_reads_it(string command, string io)
    {
        using MeasuredServer server = MeasuredServer.Start(s_value, "--io", io);
        byte[] request = command == "MGET"
            ? Request(["MGET", .. Enumerable.Repeat("b", 100_000)])
            : Request(["HMGET", "h", .. Enumerable.Repeat("f", 100_000)]);
        using (Socket reader = server.Connect())
        {
            reader.Send(request);

            // Reads a part of a reply of 100 GB. Others are served between any two pieces of it.
            for (int i = 0; i < 10; i++)
            {
                Skip(reader, 10 * MiB);
                server.Ping();
            }
        }

        server.Ping();

        server.AssertPeakWithin(Unaccounted);
        server.AssertReturnsWithin(WhenIdleAgain);
    }

    [Fact]
    public void Client_with_a_small_limit_gets_a_reply_of_any_length()
    {
        const int Keys = 3000;
        byte[] setup = Request("SET", "b", new string('v', 100_000));
        using MeasuredServer server = MeasuredServer.Start(setup, "--max-waiting", "8MiB", "--buffer-memory", "64MiB");
        using Socket reader = server.Connect();

        reader.Send(Request(["MGET", .. Enumerable.Repeat("b", Keys)]));
        server.Ping();
        long length = $"*{Keys}\r\n".Length + (Keys * (long)"$100000\r\n\r\n".Length) + (Keys * 100_000L);

        Assert.Equal(length, Skip(reader, length));
        server.AssertPeakWithin(Unaccounted);
    }

    [Fact]
    public void Transaction_whose_replies_are_too_long_is_refused_before_it_changes_anything()
    {
        using MeasuredServer server = MeasuredServer.Start(s_value, "--max-waiting", "8MiB");
        using Socket client = server.Connect();

        client.Send(Request("MULTI"));
        client.Send(Request("SET", "changed", "1"));
        for (int i = 0; i < 1000; i++)
        {
            client.Send(Request("GET", "b"));
        }

        client.Send(Request("EXEC"));
        client.Send(Request("GET", "changed"));

        Assert.Equal("+OK\r\n" + string.Concat(Enumerable.Repeat("+QUEUED\r\n", 1001)), Text(client, 5 + (9 * 1001)));
        Assert.Equal("-EXECABORT ", Text(client, 11));
        Assert.Contains("--max-waiting", Line(client), StringComparison.Ordinal);
        Assert.Equal("$-1\r\n", Text(client, 5));
        server.AssertPeakWithin(Unaccounted);
    }

    [Fact]
    public void Transaction_whose_replies_become_too_long_costs_its_client_the_connection_and_the_server_its_limit()
    {
        using MeasuredServer server = MeasuredServer.Start(s_value, "--max-waiting", "8MiB");
        using (Socket client = server.Connect())
        {
            client.Send([.. Request("MULTI"), .. Request(["HMGET", "h", .. Enumerable.Repeat("f", 100_000)])]);
            Assert.Equal("+OK\r\n+QUEUED\r\n", Text(client, 14));
            client.Send(Request("EXEC"));

            Assert.Equal(0, Skip(client, 1));
        }

        server.Ping();
        server.AssertPeakWithin((8 * MiB) + Unaccounted);
        server.AssertReturnsWithin(WhenIdleAgain);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public void Queue_of_a_transaction_ends_at_the_limit_of_a_request(int clients)
    {
        using MeasuredServer server = MeasuredServer.Start(s_value, "--max-request", "8MiB");
        byte[] set = Request("SET", "k", new string('v', ValueBytes));
        Socket[] greedy = [.. Enumerable.Range(0, clients).Select(_ => server.Connect())];
        foreach (Socket client in greedy)
        {
            client.Send(Request("MULTI"));
            for (int i = 0; i < 40; i++)
            {
                client.Send(set);
            }

            client.Send(Request("EXEC"));
        }

        foreach (Socket client in greedy)
        {
            Assert.Equal("+OK", Line(client));
            for (int i = 0; i < 40; i++)
            {
                Assert.StartsWith(i != 8 ? "+QUEUED" : "-ERR the requests queued since MULTI would take more than 8388608 bytes (--max-request)", Line(client), StringComparison.Ordinal);
            }

            Assert.Equal("-EXECABORT Transaction discarded because of previous errors.", Line(client));
            server.Ping();
            client.Dispose();
        }

        // One more block for the present request.
        server.AssertPeakWithin((clients * 12 * MiB) + Unaccounted);
        server.AssertReturnsWithin(WhenIdleAgain);
    }

    [Fact]
    public void Messages_that_are_not_read_and_values_that_do_not_end_cost_at_most_the_buffers_memory()
    {
        using MeasuredServer server = MeasuredServer.Start(s_value, "--buffer-memory", "64MiB", "--max-waiting", "8MiB");
        using (Socket publisher = server.Connect())
        {
            var held = new List<Socket>();
            byte[] half = Encoding.ASCII.GetBytes("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4000000\r\n" + new string('v', 3_000_000));
            byte[] message = Request("PUBLISH", "news", new string('m', ValueBytes));
            for (int i = 0; i < 30; i++)
            {
                Socket subscriber = server.Connect(receiveBufferBytes: 4096);
                subscriber.Send(Request("SUBSCRIBE", "news"));
                held.Add(subscriber);
                Socket sender = server.Connect();
                SendUnlessClosed(sender, half);
                held.Add(sender);
            }

            for (int i = 0; i < 20; i++)
            {
                publisher.Send(message);
                Assert.StartsWith(":", Line(publisher), StringComparison.Ordinal);
            }

            server.Ping();
            held.ForEach(client => client.Dispose());
        }

        server.AssertPeakWithin((64 * MiB) + Unaccounted);
        server.AssertReturnsWithin(WhenIdleAgain);
    }

    [Theory]
    [InlineData("uring")]
    [InlineData("epoll")]
    public async Task Readers_of_long_values_wait_for_memory_and_every_one_of_them_is_served(string io)
    {
        const int Readers = 100;
        const int LongBytes = 4_000_000;
        byte[] setup = Request("SET", "long", new string('v', LongBytes));
        using MeasuredServer server = MeasuredServer.Start(setup, "--buffer-memory", "32MiB", "--io", io);
        Socket[] readers = [.. Enumerable.Range(0, Readers).Select(_ => server.Connect(receiveBufferBytes: 4096))];

        Array.ForEach(readers, reader => reader.Send(Request("GET", "long")));
        server.Ping();

        // All at the same time, because the order in which the server serves them is undefined.
        await Task.WhenAll(readers.Select(reader => OwnThread.Run(() =>
        {
            Assert.Equal(LongBytes + 12, Skip(reader, LongBytes + 12));
            reader.Dispose();
        })));

        server.Ping();
        server.AssertPeakWithin((32 * MiB) + Unaccounted);
        server.AssertReturnsWithin(WhenIdleAgain);
    }

    private static byte[] Request(params string[] words)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"*{words.Length}\r\n");
        foreach (string word in words)
        {
            text.Append(CultureInfo.InvariantCulture, $"${word.Length}\r\n{word}\r\n");
        }

        return Encoding.ASCII.GetBytes(text.ToString());
    }

    // Reads and discards bytes; fewer if the server closes the connection.
    private static long Skip(Socket client, long bytes)
    {
        byte[] buffer = new byte[256 << 10];
        long skipped = 0;
        try
        {
            while (skipped < bytes && client.Receive(buffer, (int)Math.Min(buffer.Length, bytes - skipped), SocketFlags.None) is > 0 and var count)
            {
                skipped += count;
            }
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.ConnectionReset)
        {
            // The server closes such a connection at once.
        }

        return skipped;
    }

    private static string Text(Socket client, int length)
    {
        byte[] text = new byte[length];
        int filled = 0;
        while (filled < length && client.Receive(text.AsSpan(filled)) is > 0 and var count)
        {
            filled += count;
        }

        return Encoding.ASCII.GetString(text, 0, filled);
    }

    private static string Line(Socket client)
    {
        var line = new StringBuilder();
        byte[] one = new byte[1];
        while (client.Receive(one) > 0 && one[0] != '\n')
        {
            line.Append((char)one[0]);
        }

        return line.ToString().TrimEnd('\r');
    }

    private static void SendUnlessClosed(Socket client, byte[] bytes)
    {
        try
        {
            client.Send(bytes);
        }
        catch (SocketException)
        {
            // The server has no memory for the request.
        }
    }
}
