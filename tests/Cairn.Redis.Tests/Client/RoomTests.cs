using System.Collections.Concurrent;
using Cairn.Clients.Connections;
using Cairn.Redis.Nodes;
using Cairn.Redis.Resp;
using Cairn.Redis.Tests.Servers;

namespace Cairn.Redis.Tests.Client;

/// <summary>
/// Calls that wait for room in a connection. A waiter that gives up does not block the others. Calls that waited do not exceed a bound.
/// </summary>
public sealed class RoomTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [RequiresToolFact("redis-server")]
    public async Task Calls_that_were_cancelled_while_they_waited_for_room_leave_it_to_others()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(
            RedisClientOptions.Parse(server.Configuration) with { MaxPendingCalls = 10, OperationTimeout = s_patience });
        await client.PingAsync();
        using var cancellation = new CancellationTokenSource();
        ProcessSignals.Stop(server.ProcessId);

        Task[] sent = [.. Enumerable.Range(0, 10).Select(i => client.SetAsync($"sent:{i}", "value").AsTask())];
        Task<Exception>[] cancelled = [.. Enumerable.Range(0, 1000).Select(
            i => Record.ExceptionAsync(async () => await client.SetAsync($"cancelled:{i}", "value", cancellationToken: cancellation.Token)))];
        await cancellation.CancelAsync();
        Assert.All(await Task.WhenAll(cancelled), outcome => Assert.IsAssignableFrom<OperationCanceledException>(outcome));
        Task[] patient = [.. Enumerable.Range(0, 100).Select(i => client.SetAsync($"patient:{i}", "value").AsTask())];
        ProcessSignals.Continue(server.ProcessId);
        await Task.WhenAll([.. sent, .. patient]);

        Assert.Equal("110", server.Cli("DBSIZE"));
    }

    [RequiresToolFact("redis-server")]
    public async Task Calls_that_ran_out_of_time_while_they_waited_for_room_leave_it_to_others()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(
            RedisClientOptions.Parse(server.Configuration) with { MaxPendingCalls = 10, OperationTimeout = TimeSpan.FromSeconds(1), SilenceLimit = TimeSpan.FromMinutes(1) });
        await client.Nodes.Single().GetAsync(s_patience, CancellationToken.None);
        await client.PingAsync();
        ProcessSignals.Stop(server.ProcessId);

        Exception?[] outcomes = await Task.WhenAll(Enumerable.Range(0, 1000).Select(
            i => Record.ExceptionAsync(async () => await client.SetAsync($"late:{i}", "value"))));
        ProcessSignals.Continue(server.ProcessId);

        Assert.All(outcomes, outcome => Assert.IsType<RedisTimeoutException>(outcome));
        await Eventually.TrueAsync(
            async () => await Record.ExceptionAsync(async () => await client.PingAsync()) is null, "A call finds room when the server answers again.");
    }

    [Fact]
    public async Task Waiter_that_was_woken_and_gives_up_wakes_the_next()
    {
        await using var stream = new HeldStream();
        await using ServerConnection connection = Connect(stream, maxPendingCalls: 1);
        Assert.True(connection.TrySend(new RespCommand(["PING"]), call: null));
        using var cancellation = new CancellationTokenSource();

        // All waiters are cancelled while one of them is woken. A woken waiter that gives up must wake the next one, and so on up to the last.
        Task[] waiters = [.. Enumerable.Range(0, 100).Select(_ => connection.WaitForRoomAsync(s_patience, cancellation.Token))];
        Task last = connection.WaitForRoomAsync(s_patience, CancellationToken.None);
        Task cancelling = Task.Run(cancellation.Cancel, CancellationToken.None);
        stream.Receive("+PONG\r\n"u8);
        await cancelling;
        foreach (Task waiter in waiters)
        {
            // A woken waiter sends, as its caller would.
            if (await Record.ExceptionAsync(() => waiter.WaitAsync(s_patience)) is null)
            {
                Assert.True(connection.TrySend(new RespCommand(["PING"]), call: null, SendTurn.Waited));
                stream.Receive("+PONG\r\n"u8);
            }
        }

        await last;
    }

    [Fact]
    public async Task Long_requests_that_waited_for_room_exceed_the_bound_by_a_few_only()
    {
        await using var stream = new HeldStream();
        await using ServerConnection connection = Connect(stream, maxPendingCalls: 10_000);
        byte[] value = new byte[2000];

        Task[] calls = [.. Enumerable.Range(0, 200).Select(_ => SendAsync())];
        for (int sent = 0; sent < 200 * value.Length;)
        {
            sent += await stream.NextWriteAsync(s_patience);
        }

        await Task.WhenAll(calls);
        Assert.InRange(stream.LongestWrite, value.Length, 12 * value.Length);

        async Task SendAsync()
        {
            for (var turn = SendTurn.New; !connection.TrySend(new RespCommand(["SET", "key", value]), call: null, turn); turn = SendTurn.Waited)
            {
                await connection.WaitForRoomAsync(s_patience, CancellationToken.None);
            }
        }
    }

    private static ServerConnection Connect(HeldStream stream, int maxPendingCalls)
    {
        RedisClientOptions options = RedisClientOptions.Parse("localhost") with { MaxPendingCalls = maxPendingCalls, MaxUnsentBytes = 1024 };
        return ServerConnection.Start(stream, new RespFormat(), RedisConnectionFactory.OptionsOf(options, typeof(RedisClient)), "held", onPush: null);
    }

    /// <summary>A stream on which the test acts as the server: it lets each write pass, and writes the replies.</summary>
    private sealed class HeldStream : Stream
    {
        private readonly BlockingCollection<(int Length, TaskCompletionSource Passed)> _writes = [];
        private readonly System.IO.Pipelines.Pipe _replies = new();

        public int LongestWrite { get; private set; }

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => throw new NotSupportedException();

        public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

        public async Task<int> NextWriteAsync(TimeSpan patience)
        {
            (int length, TaskCompletionSource passed) = await Task.Run(() =>
                _writes.TryTake(out var write, patience) ? write : throw new TimeoutException("Nothing more was sent."));
            LongestWrite = Math.Max(LongestWrite, length);
            passed.SetResult();
            return length;
        }

        public void Receive(ReadOnlySpan<byte> reply)
        {
            _replies.Writer.AsStream().Write(reply);
            _replies.Writer.AsStream().Flush();
        }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            _replies.Reader.AsStream().ReadAsync(buffer, cancellationToken);

        public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            var passed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _writes.Add((buffer.Length, passed), cancellationToken);
            await passed.Task;
        }

        public override void Flush()
        {
        }

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        protected override void Dispose(bool disposing)
        {
            _replies.Writer.Complete();
            _writes.Dispose();
            base.Dispose(disposing);
        }
    }
}
