using System.Globalization;
using System.Net;
using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Memcached;
using Cairn.Server.Resp.Security;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Connections;

/// <summary>The server logs a client that uses another protocol than its port, with the bytes it sent and the remedy.</summary>
public sealed class ForeignClientTests : IDisposable
{
    private const string Hello = "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003";

    private readonly TestDirectory _directory = new();
    private readonly TestLog _log = new();
    private readonly ManualClock _clock = new(hasTimers: true);

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(WireProtocol.Memcached, "GET /metrics?token=secret HTTP/1.1\r\nHost: x\r\n\r\n", "speaks HTTP", "\"GET /metrics\"...", "--http")]
    [InlineData(WireProtocol.Resp, "POST / HTTP/1.1\r\nHost: x\r\n\r\n", "speaks HTTP", "\"POST / HTTP/1.1\"...", "--http")]
    [InlineData(WireProtocol.Memcached, Hello, "speaks TLS", "\"\\x16\\x03\\x01\\x02\\x00\"...", "--tls-certificate")]
    [InlineData(WireProtocol.Resp, Hello, "speaks TLS", "\"\\x16\\x03\\x01\\x02\\x00\"...", "--tls-certificate")]
    [InlineData(WireProtocol.Memcached, "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n", "speaks RESP", "\"*2\\r\\n$4\\r\\nAUTH\\r\\n\"...", "--resp")]
    [InlineData(WireProtocol.Resp, "set key 0 0 6\r\nsecret\r\n", "speaks memcached's protocol", "\"set\"...", "--memcached")]
    [InlineData(WireProtocol.Resp, "version\r\n", "speaks memcached's protocol", "\"version\"...", "--memcached")]
    [InlineData(WireProtocol.Resp, "\u0080\u0000\u0000\u0003\u0000\u0000", "speaks memcached's binary protocol", "\"\\x80\\x00\\x00\\x03\\x00\"...", "--memcached")]
    [InlineData(WireProtocol.Memcached, "\u0080\u0050\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000", "sent a request that memcached's binary protocol does not have", "\"\\x80P\\x00\\x00\\x00\"...", "Find out which program")]
    [InlineData(WireProtocol.Resp, "*1\r\n+PING\r\n", "broke the protocol", "\"*1\\r\\n+PING\\r\\n\"", "Find out which program")]
    public async Task Foreign_protocol_is_logged_with_its_first_bytes_and_the_remedy(WireProtocol protocol, string sent, string what, string quoted, string advice)
    {
        await using StoreServer server = await StoreServer.StartAsync(configure: options => options with { Log = _log, Clock = _clock });
        using TestClient client = server.Connect(protocol);

        await client.Socket.SendAsync(Encoding.Latin1.GetBytes(sent));

        string line = WaitForLine(client);
        Assert.Contains($"on '{protocol}' {what}", line, StringComparison.Ordinal);
        Assert.Contains($"it sent {quoted}.", line, StringComparison.Ordinal);
        Assert.Contains(advice, line, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", line, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(WireProtocol.Memcached, "get key\r\n")]
    [InlineData(WireProtocol.Resp, "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n")]
    public async Task Plain_bytes_on_a_port_with_tls_are_logged_once_and_as_such(WireProtocol protocol, string sent)
    {
        var certificates = new TestCertificates(_directory.Path);
        var tls = new TlsOptions { CertificatePath = certificates.ServerPath, KeyPath = certificates.ServerKeyPath };
        await using StoreServer server = await StoreServer.StartAsync(configure: options => options with
        {
            Log = _log,
            Clock = _clock,
            Listeners = [.. options.Listeners.Select(listener => listener with { Tls = tls })],
        });
        using TestClient client = server.Connect(protocol);

        await client.Socket.SendAsync(Encoding.Latin1.GetBytes(sent));
        client.ReadToEnd();

        string line = WaitForLine(client);
        Assert.Contains("does not speak TLS, which this port requires", line, StringComparison.Ordinal);
        Assert.Contains("serve without --tls-certificate", line, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", line, StringComparison.Ordinal);
        Assert.DoesNotContain(_log.Lines, other => other.Message.StartsWith("TLS with", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(WireProtocol.Memcached, "get key\r\n")]
    [InlineData(WireProtocol.Memcached, "quit\r\n")]
    [InlineData(WireProtocol.Memcached, "bad\r\n")]
    [InlineData(WireProtocol.Memcached, "\u0080\u0007\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000")]
    [InlineData(WireProtocol.Resp, "*1\r\n$4\r\nPING\r\n")]
    [InlineData(WireProtocol.Resp, "get key\r\n")]
    [InlineData(WireProtocol.Resp, "set key value\r\n")]
    public async Task Client_with_the_protocol_of_its_port_is_not_logged(WireProtocol protocol, string sent)
    {
        await using StoreServer server = await StoreServer.StartAsync(configure: options => options with { Log = _log });
        using TestClient client = server.Connect(protocol);
        int lines = _log.Lines.Count;

        client.Send(Encoding.Latin1.GetBytes(sent));
        client.Socket.Shutdown(System.Net.Sockets.SocketShutdown.Send);
        client.ReadToEnd();

        Assert.Equal(lines, _log.Lines.Count);
    }

    [Fact]
    public async Task Address_is_logged_once_in_a_minute()
    {
        await using StoreServer server = await StoreServer.StartAsync(configure: options => options with { Log = _log, Clock = _clock });

        SendHttp(server);
        SendHttp(server);
        _clock.Advance(TimeSpan.FromSeconds(59));
        SendHttp(server);
        int inTheFirstMinute = Told();
        _clock.Advance(TimeSpan.FromSeconds(1));
        SendHttp(server);

        Assert.Equal((1, 2), (inTheFirstMinute, Told()));
    }

    [Fact]
    public void Addresses_beyond_those_that_are_remembered_are_counted_and_logged_when_there_is_room()
    {
        var limiter = new AddressLimiter(_clock);

        int told = Enumerable.Range(0, 10_000).Count(i => limiter.MayTell(new IPAddress(i), "resp", out _));
        _clock.Advance(TimeSpan.FromMinutes(1));
        bool mayTell = limiter.MayTell(new IPAddress(20_000), "resp", out long untold);

        Assert.Equal((AddressLimiter.MostAddresses, true, 10_000 - AddressLimiter.MostAddresses, 1), (told, mayTell, (int)untold, limiter.Count));
    }

    [Fact]
    public void Quotation_is_short_and_prints_whatever_the_bytes_are()
    {
        byte[] bytes = [.. Enumerable.Range(0, 100_000).Select(i => (byte)(i * 7))];

        foreach (RequestForm form in Enum.GetValues<RequestForm>())
        {
            string quoted = FirstBytes.Quote(bytes, form);

            Assert.True(quoted.Length <= 200, quoted.Length.ToString(CultureInfo.InvariantCulture));
            Assert.All(quoted, character => Assert.InRange(character, ' ', '~'));
        }
    }

    [Theory]
    [InlineData(WireProtocol.Resp, "AUTH stranger secret\r\n", "-WRONGPASS")]
    [InlineData(WireProtocol.Resp, "HELLO 3 AUTH default secret\r\n", "-WRONGPASS")]
    [InlineData(WireProtocol.Memcached, "set x 0 0 15\r\nstranger secret\r\n", "CLIENT_ERROR")]
    [InlineData(WireProtocol.Memcached, "\u0080\u0021\u0000\u0005\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0014\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000PLAIN\u0000stranger\u0000secret", "\u0081")]
    public async Task Wrong_password_is_logged_once_a_minute_and_without_it(WireProtocol protocol, string sent, string reply)
    {
        await using StoreServer server = await StoreServer.StartAsync(
            configure: options => options with { Log = _log, Clock = _clock },
            configureResp: resp => resp.Users = RespUsers.Parse("default sha256:5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8 read-write", "users"),
            memcached: new MemcachedOptions { Credentials = MemcachedCredentials.Parse("known:password", "test") });
        byte[] request = Encoding.Latin1.GetBytes(sent);

        using TestClient first = server.Connect(protocol);
        first.Send(request);
        Assert.Equal(reply, Encoding.Latin1.GetString(first.Read(reply.Length)));
        using TestClient second = server.Connect(protocol);
        second.Send(request);
        Assert.Equal(reply, Encoding.Latin1.GetString(second.Read(reply.Length)));

        string line = Assert.Single(_log.Lines, line => line.Message.Contains("wrong user or password", StringComparison.Ordinal)).Message;
        Assert.StartsWith($"The client {first.Socket.LocalEndPoint} on '{protocol}' sent", line, StringComparison.Ordinal);
        Assert.DoesNotContain(_log.Lines, other => other.Message.Contains("secret", StringComparison.Ordinal));
    }

    private string WaitForLine(TestClient client)
    {
        string start = $"The client {client.Socket.LocalEndPoint} ";
        _log.WaitFor(line => line.Message.StartsWith(start, StringComparison.Ordinal));
        return _log.Lines.First(line => line.Message.StartsWith(start, StringComparison.Ordinal)).Message;
    }

    private int Told() => _log.Lines.Count(line => line.Message.Contains("speaks HTTP", StringComparison.Ordinal));

    private static void SendHttp(StoreServer server)
    {
        using TestClient client = server.Connect(WireProtocol.Memcached);
        client.Send("GET / HTTP/1.1\r\n\r\nquit\r\n");
        client.ReadToEnd();
    }
}
