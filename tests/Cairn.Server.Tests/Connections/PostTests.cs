using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Connections;

/// <summary>Messages of other threads to a connection.</summary>
public class PostTests
{
    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Post_reaches_a_silent_client(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();

        connection.Post(static c => c.Output.Write("news\n"u8));

        Assert.Equal("news", client.ReadLine());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Posts_of_each_thread_arrive_in_its_order(LoopUnderTest loop)
    {
        const int Threads = 4;
        const int Posts = 3000;
        await using var server = await TestServer.StartAsync(loop);
        using var client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();

        Task posting = Task.WhenAll(Enumerable.Range(0, Threads).Select(thread => OwnThread.Run(() =>
        {
            for (int i = 0; i < Posts; i++)
            {
                byte[] line = System.Text.Encoding.ASCII.GetBytes($"{thread} {i}\n");
                connection.Post(c => c.Output.Write(line));
            }
        })));

        int[] next = new int[Threads];
        for (int i = 0; i < Threads * Posts; i++)
        {
            string[] words = client.ReadLine().Split(' ');
            int thread = int.Parse(words[0]);
            Assert.Equal(next[thread]++, int.Parse(words[1]));
        }

        await posting;
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Post_to_a_connection_that_has_ended_does_nothing(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop);
        TestClient client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();
        client.Dispose();
        server.Sessions.TakeClosed();
        bool hasRun = false;

        connection.Post(_ => hasRun = true);
        await connection.OnWorker(() => true); // Posted later, so it runs later.

        Assert.False(hasRun);
    }

    [Theory]
    [InlineData(CloseReason.Killed, "last words\n")]
    [InlineData(CloseReason.KilledAtOnce, null)]
    public async Task Connection_can_be_closed_from_any_thread(object reason, string? received)
    {
        await using var server = await TestServer.StartAsync(LoopUnderTest.Epoll);
        using var client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();
        if (received is not null)
        {
            connection.Post(static c => c.Output.Write("last words\n"u8));
        }

        connection.Close((CloseReason)reason);

        if (received is not null)
        {
            Assert.Equal(received, client.ReadToEnd());
            client.Dispose(); // The server waits for it.
        }

        Assert.Equal((CloseReason)reason, server.Sessions.TakeClosed());
    }

    [Fact]
    public async Task Request_does_not_wait_for_a_thousand_posts_that_were_there_before_it()
    {
        await using var server = await TestServer.StartAsync(LoopUnderTest.Epoll);
        using var client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();
        using var isReady = new ManualResetEventSlim();
        connection.Post(_ => isReady.Wait());
        for (int i = 0; i < 1_000; i++)
        {
            connection.Post(static c => c.Output.Write("."u8));
        }

        client.Send("echo request\n");
        isReady.Set();

        string line = client.ReadLine();
        Assert.EndsWith("request", line, StringComparison.Ordinal);
        Assert.InRange(line.Length, 0, 500);
    }
}
