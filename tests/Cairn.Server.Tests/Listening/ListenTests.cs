using Cairn.Server.Listening;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Listening;

/// <summary>The forms of addresses, and addresses on which the server cannot listen.</summary>
public class ListenTests
{
    [Theory]
    [InlineData("127.0.0.1:11211", "127.0.0.1:11211")]
    [InlineData("localhost:1", "localhost:1")]
    [InlineData("localhost", "localhost:99")]
    [InlineData("[::1]:11211", "[::1]:11211")]
    [InlineData("[::1]", "[::1]:99")]
    [InlineData("::1", "[::1]:99")]
    [InlineData("*:5", "*:5")]
    [InlineData(":5", "*:5")]
    [InlineData("5", "127.0.0.1:5")]
    [InlineData("unix:/tmp/s", "unix:/tmp/s")]
    public void Address_is_understood(string text, string address)
    {
        Assert.True(ListenAddress.TryParse(text, defaultPort: 99, out ListenAddress? parsed));
        Assert.Equal(address, parsed.ToString());
    }

    [Theory]
    [InlineData("")]
    [InlineData("host:port")]
    [InlineData("host:70000")]
    [InlineData("host:-1")]
    [InlineData("[::1")]
    [InlineData("[::1]5")]
    [InlineData("[host]:5")]
    [InlineData("a:b:c")]
    [InlineData("two words:5")]
    [InlineData("unix:")]
    public void Nonsense_is_no_address(string text) => Assert.False(ListenAddress.TryParse(text, defaultPort: 99, out _));

    [Fact]
    public async Task Port_that_is_taken_is_named()
    {
        await using var server = await TestServer.StartAsync(LoopUnderTest.Epoll);
        var address = ListenAddress.Tcp("127.0.0.1", server.EndPoint.Port);

        var e = await Assert.ThrowsAsync<ServerException>(() => TestServer.StartAsync(LoopUnderTest.Epoll, address: address));

        Assert.Contains($"{server.EndPoint}", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Address_of_another_machine_is_an_error()
    {
        var address = ListenAddress.Tcp("192.0.2.1", 0); // Reserved for documentation.

        var e = await Assert.ThrowsAsync<ServerException>(() => TestServer.StartAsync(LoopUnderTest.Epoll, address: address));

        Assert.Contains("192.0.2.1", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Loopback_has_the_plain_congestion_control_and_sends_at_once()
    {
        const int Tcp = 6;
        const int CongestionControl = 13;

        using Listener listener = Assert.Single(Listener.Open("test", ListenAddress.Tcp("127.0.0.1", 0)));

        Span<byte> name = stackalloc byte[16];
        int length = listener.Socket.GetRawSocketOption(Tcp, CongestionControl, name);
        Assert.Equal("reno", System.Text.Encoding.ASCII.GetString(name[..length]).TrimEnd('\0'));
        Assert.True(listener.Socket.NoDelay);
    }
}
