using Cairn.Server.Connections;
using Cairn.Server.Metrics;
using Cairn.Server.Tests.Metrics;
using Cairn.Server.Tests.Testing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Connections;

/// <summary>Log messages about clients.</summary>
public sealed class LogTests
{
    [Fact]
    public async Task Disconnection_of_a_client_is_logged_with_its_cause()
    {
        await using var server = await TestServer.StartAsync(
            LoopUnderTest.Sockets, options => options with { Limits = new ConnectionLimits { MaxInputBytesPerConnection = 100_000 } });
        using TestClient client = server.Connect();
        string address = client.Socket.LocalEndPoint!.ToString()!;

        client.Send("put 100001\nx");
        client.ReadToEnd();
        client.Dispose();
        server.Sessions.TakeClosed();

        Assert.Contains(
            (LogLevel.Warning, $"The client {address} on 'test' was disconnected: its request is longer than 97.7 KiB."), server.Log.Lines);
    }

    [Fact]
    public async Task Client_that_leaves_is_not_logged()
    {
        await using var server = await TestServer.StartAsync(LoopUnderTest.Sockets);
        TestClient client = server.Connect();
        client.Send("echo a\n");
        client.ReadLine();
        int lines = server.Log.Lines.Count;

        client.Dispose();
        server.Sessions.TakeClosed();

        Assert.Equal(lines, server.Log.Lines.Count);
    }

    [Theory]
    [InlineData("memcached", "get some-key another\r\n", "get some-key")]
    [InlineData("resp", "SET some-key secret\r\n", "SET some-key")]
    [InlineData("resp", "GET \"some\\r\\nkey\"\r\n", "GET some??key")]
    public async Task Slow_request_is_logged_with_its_command_and_key(string protocol, string request, string told)
    {
        var log = new TestLog();
        await using ServedMetrics server = await ServedMetrics.StartAsync(
            configure: options => options with { SlowThreshold = TimeSpan.Zero }, log: log);
        using TestClient client = server.Connect(protocol);

        client.Send(request);
        client.ReadLine();

        (LogLevel Level, string Message) line = Assert.Single(log.Lines, line => line.Message.StartsWith("A request of ", StringComparison.Ordinal));
        Assert.Equal(LogLevel.Warning, line.Level);
        Assert.StartsWith($"A request of {client.Socket.LocalEndPoint} over {protocol} took ", line.Message, StringComparison.Ordinal);
        Assert.EndsWith($" ms: {told}.", line.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Summary_of_a_slow_request_is_short_whatever_its_key_is()
    {
        var request = new SlowRequest
        {
            At = DateTimeOffset.UnixEpoch,
            Duration = TimeSpan.Zero,
            Protocol = "resp",
            Client = "",
            Arguments = ["get"u8.ToArray(), new byte[500]],
        };

        Assert.Equal("get " + new string('?', 60), request.Summary);
    }
}
