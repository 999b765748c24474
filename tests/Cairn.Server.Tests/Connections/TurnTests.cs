using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Listening;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Connections;

/// <summary>A worker's work between two short requests (Worker I5, I6). The test drives every turn, so all counts are exact.</summary>
public sealed class TurnTests : IAsyncDisposable
{
    private const int Many = 12;
    private const int LongBytes = 1 << 20;

    private readonly ScriptedLoop _loop = new();
    private readonly WorkSessions _sessions = new();
    private readonly ManualClock _clock = new(hasTimers: true);
    private ServerEngine? _engine;

    private List<string> Done => _sessions.Done;

    public async ValueTask DisposeAsync()
    {
        if (_engine is not null)
        {
            _loop.EndScript();
            await _engine.DisposeAsync();
        }

        _loop.Dispose();
    }

    [Fact]
    public async Task Short_request_waits_for_one_piece_of_the_work_of_others_and_every_one_of_them_gets_on()
    {
        await StartAsync();
        ClientConnection modest = _loop.Connect();
        ClientConnection[] greedy = [.. Enumerable.Range(0, Many).Select(_ => _loop.Connect())];
        _loop.Turn(() => Array.ForEach(greedy, connection => _loop.Receive(connection, new string('m', 1_000))));

        for (int turn = 0; turn < 2 * Many; turn++)
        {
            Done.Clear();
            _loop.Turn(() => _loop.Receive(modest, "s"));

            // The connection that had waited longest comes first.
            Assert.Equal([$"{modest.Id} s", $"{greedy[(turn + 1) % Many].Id} m"], Done.Distinct());
        }
    }

    [Fact]
    public async Task Short_request_is_served_before_those_that_did_much_before_although_it_arrived_last()
    {
        await StartAsync();
        ClientConnection modest = _loop.Connect();
        ClientConnection[] greedy = [.. Enumerable.Range(0, Many).Select(_ => _loop.Connect())];
        _loop.Turn(() => Array.ForEach(greedy, connection => _loop.Receive(connection, "mmm")));
        Done.Clear();

        _loop.Turn(() =>
        {
            Array.ForEach(greedy, connection => _loop.Receive(connection, "mmm"));
            _loop.Receive(modest, "s");
        });
        PassTurns(Many - 1);

        Assert.Equal([$"{modest.Id} s", .. greedy.SelectMany(connection => Enumerable.Repeat($"{connection.Id} m", 3))], Done);
    }

    [Fact]
    public async Task Input_of_a_connection_that_is_served_in_a_later_turn_is_what_its_client_sent()
    {
        await StartAsync();
        ClientConnection[] greedy = [.. Enumerable.Range(0, Many).Select(_ => _loop.Connect())];
        _loop.Turn(() => Array.ForEach(greedy, connection => _loop.Receive(connection, "mmm")));
        Array.ForEach(greedy[1..], connection => _loop.Turn(() => _loop.Receive(connection, new string('m', 100))));
        Done.Clear();

        // The connection is in the queue, behind the others, when its request arrives.
        _loop.Turn(() => _loop.Worker.MakeReady(greedy[0]));
        _loop.Turn(() => _loop.Receive(greedy[0], "m"));
        while (greedy[0].IsReady)
        {
            _loop.Turn(() => { });
        }

        Assert.Contains($"{greedy[1].Id} m", Done);
        Assert.Equal([$"{greedy[0].Id} m"], Done.Where(done => done.StartsWith($"{greedy[0].Id} ", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Client_of_long_requests_is_one_of_short_ones_after_a_few_of_those()
    {
        await StartAsync();
        ClientConnection client = _loop.Connect();
        ClientConnection modest = _loop.Connect();
        _loop.Turn(() => _loop.Receive(client, "mmm"));
        int shorts = 0;

        do
        {
            shorts++;
            Done.Clear();
            _loop.Turn(() =>
            {
                _loop.Receive(client, "s");
                _loop.Receive(modest, "s");
            });
        }
        while (Done[0] == $"{modest.Id} s");

        Assert.InRange(shorts, 2, 4);
    }

    [Fact]
    public async Task Short_request_waits_for_few_of_the_messages_to_many_subscribers_and_all_of_them_are_sent()
    {
        await StartAsync();
        ClientConnection modest = _loop.Connect();
        PostMessages(200);

        for (int turn = 0; turn < 50; turn++)
        {
            Done.Clear();
            _loop.Turn(() => _loop.Receive(modest, "s"));

            Assert.Equal([$"{modest.Id} s", "message", "message"], Done);
        }

        Done.Clear();
        PassTurns(40);
        Assert.Equal(Enumerable.Repeat("message", 100), Done);
    }

    [Theory]
    [InlineData(100, 0)]
    [InlineData(0, 40)]
    public async Task Share_of_messages_is_larger_beside_many_short_requests_and_after_many_turns_without_any(int requests, int turnsWithout)
    {
        await StartAsync();
        ClientConnection[] modest = [.. Enumerable.Range(0, requests).Select(_ => _loop.Connect())];
        ClientConnection subscriber = _loop.Connect();
        PassTurns(turnsWithout);
        PostMessages(20, subscriber);

        _loop.Turn(() => Array.ForEach(modest, connection => _loop.Receive(connection, "s")));

        Assert.Equal(Enumerable.Repeat("message", 7), Done[requests..]);
    }

    [Theory]
    [InlineData("", "l")]
    [InlineData("mmm", "l")]
    [InlineData("mmm", "m")]
    public async Task Reply_to_a_short_request_is_sent_before_the_long_work_of_another_client_begins(string before, string work)
    {
        await StartAsync();
        ClientConnection modest = _loop.Connect();
        ClientConnection greedy = _loop.Connect();
        _loop.Turn(() => _loop.Receive(greedy, before));
        Done.Clear();
        _loop.OnFlush = () => Done.Add("sent");

        _loop.Turn(() =>
        {
            _loop.Receive(greedy, work);
            _loop.Receive(modest, "s");
        });

        Assert.Equal([$"{modest.Id} s", "sent", $"{greedy.Id} {work}"], Done);
    }

    [Fact]
    public async Task Reply_to_a_short_request_is_sent_before_the_second_message_and_without_replies_nothing_is_sent_early()
    {
        await StartAsync();
        ClientConnection modest = _loop.Connect();
        PostMessages(4);
        _loop.OnFlush = () => Done.Add("sent");

        _loop.Turn(() => _loop.Receive(modest, "s"));
        PassTurns(1);

        Assert.Equal([$"{modest.Id} s", "message", "sent", "message", "message", "message"], Done);
    }

    [Fact]
    public async Task Connection_that_sends_more_while_its_long_reply_waits_keeps_its_place()
    {
        await StartAsync();
        ClientConnection first = _loop.Connect();
        ClientConnection second = _loop.Connect();
        _loop.Turn(() => _loop.Receive(first, "mmm"));
        Take(_engine!.Limits.MaxBufferBytes);
        _loop.Turn(() => _loop.Receive(first, "l"));
        _loop.Turn(() => _loop.Receive(second, "l"));
        Done.Clear();

        Take(-_engine.Limits.MaxBufferBytes);
        for (int turn = 0; turn < 4; turn++)
        {
            _loop.Turn(() => _loop.Receive(first, "s"));
        }

        Assert.Equal([$"{first.Id} l", $"{second.Id} l"], Done.Where(done => done.EndsWith('l')));
    }

    [Fact]
    public async Task Turn_makes_one_long_reply_and_all_are_made_in_the_order_of_their_requests()
    {
        await StartAsync();
        ClientConnection modest = _loop.Connect();
        ClientConnection[] readers = [.. Enumerable.Range(0, Many).Select(_ => _loop.Connect())];
        _loop.Turn(() => Array.ForEach(readers, connection => _loop.Receive(connection, "l")));
        Assert.Equal([$"{readers[0].Id} l"], Done);

        for (int i = 1; i < Many; i++)
        {
            Done.Clear();
            _loop.Turn(() => _loop.Receive(modest, "s"));

            Assert.Equal([$"{modest.Id} s", $"{readers[i].Id} l"], Done);
        }
    }

    [Fact]
    public async Task Long_reply_of_one_that_reads_does_not_keep_those_that_wait_from_theirs()
    {
        await StartAsync();
        ClientConnection quick = _loop.Connect();
        quick.CountSent(2 * LongBytes);
        _clock.Advance(TimeSpan.FromSeconds(1));
        ClientConnection[] readers = [.. Enumerable.Range(0, Many).Select(_ => _loop.Connect())];
        _loop.Turn(() => Array.ForEach(readers, connection => _loop.Receive(connection, "l")));

        for (int turn = 0; turn < Many; turn++)
        {
            _loop.Turn(() => _loop.Receive(quick, "l"));
        }

        PassTurns(4 * Many);

        Assert.Equal(readers.Select(connection => $"{connection.Id} l"), Done.Where(done => done != $"{quick.Id} l"));
        Assert.Equal(Many, Done.Count(done => done == $"{quick.Id} l"));
    }

    [Fact]
    public async Task Connection_that_waits_for_memory_is_not_idle_until_it_has_its_reply()
    {
        await StartAsync(new ConnectionLimits { IdleTimeout = TimeSpan.FromSeconds(10) });
        ClientConnection client = _loop.Connect();
        Take(_engine!.Limits.MaxBufferBytes);
        _loop.Turn(() => _loop.Receive(client, "l"));

        Pass(30);
        Assert.True(client.IsOpen);

        Take(-_engine.Limits.MaxBufferBytes);
        Pass(9);
        Assert.Equal([$"{client.Id} l"], Done);
        Assert.True(client.IsOpen);
        Pass(2);
        Assert.Equal(CloseReason.Idle, client.CloseReason);
    }

    private void Take(long replyBytes)
    {
        _engine!.Memory.Add(replyBytes);
        _engine.Memory.AddReply(replyBytes);
    }

    private void PassTurns(int count)
    {
        for (int turn = 0; turn < count; turn++)
        {
            _loop.Turn(() => { });
        }
    }

    private void PostMessages(int count, ClientConnection? to = null)
    {
        ClientConnection subscriber = to ?? _loop.Connect();
        for (int i = 0; i < count; i++)
        {
            subscriber.Post(connection =>
            {
                connection.Output.Write(new byte[4_000]);
                Done.Add("message");
            });
        }
    }

    private void Pass(int seconds)
    {
        for (int i = 0; i < seconds; i++)
        {
            _clock.Advance(TimeSpan.FromSeconds(1));
            _loop.Turn(() => { });
        }
    }

    private async Task StartAsync(ConnectionLimits? limits = null)
    {
        _engine = await ServerEngine.StartAsync(new ServerEngineOptions
        {
            Listeners = [new ListenerOptions { Name = "test", Address = ListenAddress.Tcp("127.0.0.1", 0), Sessions = _sessions }],
            Limits = limits ?? new(),
            Workers = 1,
            Clock = _clock,
            Choices = _ => [new(IoKind.Epoll, () => _loop)],
        });
        _loop.BeginScript();
    }

    private sealed class WorkSessions : SessionFactory
    {
        public List<string> Done { get; } = [];

        public override Session Create(ClientConnection connection) => new WorkSession(connection, Done);
    }

    /// <summary>Every byte is a request: s for a short reply, m for a reply of 20,000 bytes, l for a reply that needs its own block.</summary>
    private sealed class WorkSession(ClientConnection connection, List<string> done) : Session
    {
        public override int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget)
        {
            AwaitedBytes = 0;
            HasUnfinishedRequest = false;
            int consumed = 0;
            while (consumed < input.Length && budget-- > 0 && !output.IsFull)
            {
                char request = (char)input[consumed];
                if (request == 'l' && !connection.Held.TryTakeReply(LongBytes))
                {
                    AwaitedBytes = LongBytes;
                    HasUnfinishedRequest = true;
                    break;
                }

                output.Write(new byte[request switch { 'l' => LongBytes, 'm' => 20_000, _ => 1 }]);
                done.Add($"{connection.Id} {request}");
                consumed++;
            }

            return consumed;
        }
    }
}
