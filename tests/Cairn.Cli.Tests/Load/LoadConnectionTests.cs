using System.Text;
using Cairn.Cli.Clients;
using Cairn.Cli.Load;

namespace Cairn.Cli.Tests.Load;

/// <summary>The requests that a connection sends and its handling of replies, without a server and with a clock that the test moves.</summary>
public sealed class LoadConnectionTests
{
    private const long Millisecond = 1_000_000;

    private readonly LoadCounters _counters = new();
    private readonly ServerErrors _errors = new();
    private readonly byte[] _output = new byte[1 << 16];

    [Theory]
    [InlineData(0, 1)]
    [InlineData(0, 3)]
    [InlineData(1, 1)]
    [InlineData(1, 3)]
    [InlineData(2, 1)]
    [InlineData(2, 3)]
    public void Replies_are_understood_wherever_they_are_cut(int protocol, int keysPerGet)
    {
        LoadPlan plan = Plan with { Pipeline = 1, SetPercent = 0, KeysPerGet = keysPerGet, IsVerified = true };
        LoadConnection connection = Begin((ServerProtocol)protocol, plan);
        var values = new LoadValues(plan.MinValueBytes, plan.MaxValueBytes);
        int rounds = 0;
        for (int cut = 0; cut >= 0; cut++)
        {
            string request = Encoding.ASCII.GetString(_output, 0, connection.Build(_output, now: 0));
            byte[] reply = Reply((ServerProtocol)protocol, KeysIn(request), keysPerGet, values);
            if (cut > reply.Length)
            {
                break;
            }

            Assert.True(connection.Receive(reply.AsSpan(0, cut), now: 1));
            Assert.True(connection.Receive(reply.AsSpan(cut), now: 2));

            rounds++;
            Assert.Equal((0, rounds), (connection.UnderWay, _counters.Requests));
        }

        Assert.InRange(rounds, 100, 1000);
        Assert.Equal((rounds * keysPerGet, rounds * keysPerGet, 0), (_counters.Gets, _counters.Hits, _counters.WrongValues));
    }

    [Fact]
    public void Memcached_s_misses_are_what_it_leaves_out()
    {
        LoadConnection connection = Begin(ServerProtocol.Memcached, Plan with { SetPercent = 0, KeysPerGet = 3, IsVerified = true });
        var values = new LoadValues(Plan.MinValueBytes, Plan.MaxValueBytes);
        List<uint> keys = KeysIn(Encoding.ASCII.GetString(_output, 0, connection.Build(_output, now: 0)));

        Assert.True(connection.Receive(Reply(ServerProtocol.Memcached, [keys[0], keys[2]], 3, values), now: 1));

        Assert.Equal((3, 2, 0), (_counters.Gets, _counters.Hits, _counters.WrongValues));
    }

    [Fact]
    public void Value_of_a_key_that_was_not_asked_for_is_wrong()
    {
        LoadConnection connection = Begin(ServerProtocol.Memcached, Plan with { SetPercent = 0, IsVerified = true });
        var values = new LoadValues(Plan.MinValueBytes, Plan.MaxValueBytes);
        uint key = KeysIn(Encoding.ASCII.GetString(_output, 0, connection.Build(_output, now: 0)))[0];

        Assert.True(connection.Receive(Reply(ServerProtocol.Memcached, [key + 1], 1, values), now: 1));

        Assert.Equal(1, _counters.WrongValues);
    }

    [Fact]
    public void Pipeline_is_sent_at_once_and_then_waits_for_all_of_its_answers()
    {
        LoadConnection connection = Begin(ServerProtocol.Memcached, Plan with { Pipeline = 4, SetPercent = 0 });

        Assert.Equal(4, Requests(connection.Build(_output, now: 10 * Millisecond)));
        connection.Receive("END\r\nEND\r\nEND\r\n"u8, now: 12 * Millisecond);
        Assert.Equal(0, connection.Build(_output, now: 12 * Millisecond));
        connection.Receive("END\r\n"u8, now: 14 * Millisecond);
        Assert.Equal(4, Requests(connection.Build(_output, now: 14 * Millisecond)));

        Assert.Equal([3, 1], _counters.GetLatencies.Filled().Select(bin => bin.Count));
        Assert.InRange(_counters.GetLatencies.Percentile(0.5), 2 * Millisecond, 2.07 * Millisecond);
        Assert.InRange(_counters.GetLatencies.Percentile(1), 4 * Millisecond, 4.04 * Millisecond);
    }

    [Fact]
    public void At_a_rate_latency_counts_from_when_a_request_was_due_not_from_when_it_could_be_sent()
    {
        LoadPlan plan = Plan with { Connections = 1, Pipeline = 1, SetPercent = 0, RequestsPerSecond = 1000 };
        var job = new LoadJob(LoadStep.Mix, null, plan.Pipeline, plan.RequestsPerSecond);
        LoadConnection connection = Create(ServerProtocol.Memcached, plan);
        connection.Begin(job);

        // The server stalls for 10 ms while one request per millisecond becomes due; then it answers each at once.
        long now = job.StartedAt;
        for (int i = 0; i < 10; i++)
        {
            connection.Due();
            Assert.Equal(i == 0 ? 1 : 0, Requests(connection.Build(_output, now)));
            now += Millisecond;
        }

        for (int i = 0; i < 10; i++)
        {
            connection.Receive("END\r\n"u8, now);
            Assert.Equal(i < 9 ? 1 : 0, Requests(connection.Build(_output, now)));
        }

        Assert.Equal(10, _counters.GetLatencies.Count);
        Assert.InRange(_counters.GetLatencies.Percentile(1), 9.99 * Millisecond, 10.1 * Millisecond);
        Assert.InRange(_counters.GetLatencies.Percentile(0.5), 4.99 * Millisecond, 5.16 * Millisecond);
        Assert.InRange(_counters.GetLatencies.Percentile(0), 0.99 * Millisecond, 1.04 * Millisecond);
    }

    [Theory]
    [InlineData("CLIENT_ERROR bad\r\n", "CLIENT_ERROR bad")]
    [InlineData("SERVER_ERROR out of memory\r\n", "SERVER_ERROR out of memory")]
    [InlineData("ERROR\r\n", "ERROR")]
    public void Error_answers_its_request_and_is_no_operation(string reply, string text)
    {
        LoadConnection connection = Begin(ServerProtocol.Memcached, Plan with { SetPercent = 100 });
        connection.Build(_output, now: 0);

        Assert.True(connection.Receive(Encoding.ASCII.GetBytes(reply), now: 1));

        Assert.Equal((1, 0, 1), (_counters.Errors, _counters.Sets, _counters.Requests));
        Assert.Equal(new KeyValuePair<string, long>(text, 1), Assert.Single(_errors.List()));
    }

    [Theory]
    [InlineData(0, "STORED\r\n")]
    [InlineData(0, "VALUE cairn-bench:0000000000 0 minus\r\n")]
    [InlineData(0, "END\r\nEND\r\n")]
    [InlineData(1, "OK\r\n")]
    [InlineData(2, "+OK\r\n")]
    [InlineData(2, ":1\r\n")]
    [InlineData(2, "*1\r\n")]
    [InlineData(2, "\r\n")]
    public void Anything_else_is_no_reply(int protocol, string reply)
    {
        LoadConnection connection = Begin((ServerProtocol)protocol, Plan with { SetPercent = 0 });
        connection.Build(_output, now: 0);

        Assert.False(connection.Receive(Encoding.ASCII.GetBytes(reply), now: 1));
        Assert.NotNull(connection.ProtocolViolation);
    }

    [Fact]
    public void Line_without_an_end_is_no_reply()
    {
        LoadConnection connection = Begin(ServerProtocol.Resp, Plan with { SetPercent = 0 });
        connection.Build(_output, now: 0);

        Assert.True(connection.Receive(new byte[4096], now: 1));
        Assert.False(connection.Receive(new byte[1], now: 1));
    }

    [Fact]
    public void Requests_in_flight_on_a_lost_connection_are_counted_and_forgotten()
    {
        LoadConnection connection = Begin(ServerProtocol.Resp, Plan with { Pipeline = 3, SetPercent = 0 });
        connection.Build(_output, now: 0);
        connection.Receive("$50\r\nabc"u8, now: 1);

        connection.Reset();

        Assert.Equal((3, 0), (_counters.LostRequests, connection.UnderWay));
        Assert.Equal(3, connection.Build(_output, now: 2) / 41);
        Assert.True(connection.Receive("$-1\r\n$-1\r\n$-1\r\n"u8, now: 3));
        Assert.Equal((3, 0), (_counters.Gets, _counters.Hits));
    }

    private static LoadPlan Plan { get; } = new()
    {
        Target = new ServerTarget { Address = ServerAddress.Parse("11211") },
        Connections = 1,
        Keys = 1000,
        MinValueBytes = 90,
        MaxValueBytes = 120,
    };

    private static byte[] Reply(ServerProtocol protocol, List<uint> keys, int keysPerGet, LoadValues values)
    {
        var reply = new MemoryStream();
        void Write(string text) => reply.Write(Encoding.ASCII.GetBytes(text));
        if (protocol == ServerProtocol.Resp && keysPerGet > 1)
        {
            Write($"*{keys.Count}\r\n");
        }

        foreach (uint key in keys)
        {
            byte[] value = new byte[values.SizeOf(key)];
            values.Write(key, value);
            string name = $"cairn-bench:{key:D10}";
            Write(protocol switch
            {
                ServerProtocol.Memcached => $"VALUE {name} 0 {value.Length}\r\n",
                ServerProtocol.Meta => keysPerGet > 1 ? $"VA {value.Length} k{name}\r\n" : $"VA {value.Length}\r\n",
                _ => $"${value.Length}\r\n",
            });
            reply.Write(value);
            Write("\r\n");
        }

        Write(protocol switch
        {
            ServerProtocol.Memcached => "END\r\n",
            ServerProtocol.Meta when keysPerGet > 1 => "MN\r\n",
            _ => "",
        });
        return reply.ToArray();
    }

    private static List<uint> KeysIn(string request) =>
        [.. request.Split("cairn-bench:").Skip(1).Select(part => uint.Parse(part.AsSpan(0, 10), System.Globalization.CultureInfo.InvariantCulture))];

    private int Requests(int bytes) => Encoding.ASCII.GetString(_output, 0, bytes).Split("cairn-bench:").Length - 1;

    private LoadConnection Begin(ServerProtocol protocol, LoadPlan plan)
    {
        LoadConnection connection = Create(protocol, plan);
        connection.Begin(new LoadJob(LoadStep.Mix, null, plan.Pipeline, plan.RequestsPerSecond));
        return connection;
    }

    private LoadConnection Create(ServerProtocol protocol, LoadPlan plan)
    {
        var values = new LoadValues(plan.MinValueBytes, plan.MaxValueBytes);
        return new LoadConnection(plan, protocol, 0, plan.Pipeline, new RequestForms(protocol, plan, values), values, _counters, _errors);
    }
}
