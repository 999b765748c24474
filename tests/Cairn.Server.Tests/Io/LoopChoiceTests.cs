using Cairn.Server.Connections;
using Cairn.Server.Io;
using Cairn.Server.Io.Epoll;
using Cairn.Server.Listening;
using Cairn.Server.Tests.Testing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Io;

/// <summary>The choice of the event loop, and the message about it.</summary>
public class LoopChoiceTests
{
    [Fact]
    public async Task Log_says_which_kernel_interface_is_used()
    {
        await using var server = await TestServer.StartAsync(LoopUnderTest.Epoll);

        Assert.Contains(server.Log.Lines, line => line.Message.StartsWith("Connections are served through epoll", StringComparison.Ordinal));
        Assert.Equal(IoKind.Epoll, server.Engine.Io);
    }

    [Fact]
    public async Task Way_that_is_forbidden_is_passed_over_and_the_reason_said()
    {
        var log = new TestLog();
        ServerEngineOptions options = Options(log) with
        {
            Choices = _ => [new(IoKind.Uring, () => throw new InvalidOperationException(), "io_uring is forbidden."), Epoll],
        };

        await using ServerEngine engine = await ServerEngine.StartAsync(options);

        Assert.Equal(IoKind.Epoll, engine.Io);
        Assert.Contains(log.Lines, line => line.Level == LogLevel.Warning && line.Message.StartsWith("io_uring is forbidden.", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Way_that_fails_when_it_is_opened_is_passed_over()
    {
        var log = new TestLog();
        ServerEngineOptions options = Options(log) with { Choices = _ => [new(IoKind.Uring, () => new BrokenLoop(new ServerException("No memory for a ring."))), Epoll] };

        await using ServerEngine engine = await ServerEngine.StartAsync(options);

        Assert.Equal(IoKind.Epoll, engine.Io);
        Assert.Contains(log.Lines, line => line.Message.StartsWith("No memory for a ring.", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Way_that_gets_no_memory_is_passed_over_and_the_last_one_is_an_error_that_says_what_to_do()
    {
        var log = new TestLog();
        LoopChoice uring = new(IoKind.Uring, () => new BrokenLoop(new InsufficientMemoryException()));
        LoopChoice sockets = new(IoKind.Sockets, () => new BrokenLoop(new InsufficientMemoryException()));

        await using (ServerEngine engine = await ServerEngine.StartAsync(Options(log) with { Choices = _ => [uring, Epoll] }))
        {
            Assert.Equal(IoKind.Epoll, engine.Io);
        }

        var e = await Assert.ThrowsAsync<ServerException>(() => ServerEngine.StartAsync(Options(log) with { Choices = _ => [uring, sockets] }));
        Assert.StartsWith("The system refuses the memory of a worker. Raise the limits", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Listener_that_the_loop_refuses_is_an_error_of_the_start()
    {
        LoopChoice deaf = new(IoKind.Epoll, () => new BrokenLoop(new ServerException("No watch for the listener."), canBeOpened: true));

        var e = await Assert.ThrowsAsync<ServerException>(() => ServerEngine.StartAsync(Options(new TestLog()) with { Choices = _ => [deaf] }));

        Assert.Equal("No watch for the listener.", e.Message);
    }

    [Fact]
    public async Task Way_that_was_asked_for_and_is_not_there_is_an_error()
    {
        ServerEngineOptions options = Options(new TestLog()) with
        {
            Io = IoKind.Uring,
            Choices = _ => [new(IoKind.Uring, () => throw new InvalidOperationException(), "io_uring is forbidden.")],
        };

        var e = await Assert.ThrowsAsync<ServerException>(() => ServerEngine.StartAsync(options));

        Assert.Equal("io_uring is forbidden.", e.Message);
    }

    private static LoopChoice Epoll => new(IoKind.Epoll, () => new EpollLoop());

    private static ServerEngineOptions Options(TestLog log) => new()
    {
        Listeners = [new ListenerOptions { Name = "test", Address = ListenAddress.Tcp("127.0.0.1", 0), Sessions = new TestSessions() }],
        Log = log,
        Workers = 2,
    };

    private sealed class BrokenLoop(Exception failure, bool canBeOpened = false) : IoLoop
    {
        private readonly AutoResetEvent _woken = new(initialState: false);
        private IIoWorker _worker = null!; // Set by Open.

        public override string Description => "broken";

        public override bool IsAcceptPaused => false;

        public override void Open(IIoWorker worker) => _worker = canBeOpened ? worker : throw failure;

        public override void Listen(Listener listener) => throw failure;

        public override void StopListening()
        {
        }

        public override void RetryAccept() => throw new NotSupportedException();

        public override IoChannel Adopt(AcceptedSocket socket, IIoConnection connection) => throw new NotSupportedException();

        public override bool Collect(int timeoutMs)
        {
            _woken.WaitOne(timeoutMs);
            _worker.OnAwake();
            return true;
        }

        public override void EndTurn()
        {
        }

        public override void Wake() => _woken.Set();

        public override void Dispose() => _woken.Dispose();
    }
}
