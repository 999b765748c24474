using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Cairn.Server.Connections;
using Cairn.Server.Tests.Testing;
using Cairn.Server.Tls;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Tls;

/// <summary>TLS with every loop: the same requests and replies as without it, certificates of both sides, and errors.</summary>
public sealed class TlsTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly TestCertificates _certificates;

    public TlsTests() => _certificates = new TestCertificates(_directory.Path);

    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    private TlsOptions Options => new() { CertificatePath = _certificates.ServerPath, KeyPath = _certificates.ServerKeyPath };

    public void Dispose() => _directory.Dispose();

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Requests_and_long_replies_travel_encrypted(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, tls: Options);
        server.Sessions.Greeting = "welcome\n";
        await using SslStream client = await ConnectAsync(server);

        await client.WriteAsync(Encoding.ASCII.GetBytes($"echo hello\nput 1000000\n{new string('x', 1_000_000)}big 3000000\necho end\n"));

        Assert.Equal("welcome\nhello\nstored 1000000\n", await ReadAsync(client, "welcome\nhello\nstored 1000000\n".Length));
        Assert.Equal(3_000_000, (await ReadAsync(client, 3_000_000)).Length);
        Assert.Equal("end\n", await ReadAsync(client, 4));
        Assert.True(server.Sessions.Connected.Take().IsEncrypted);
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Session_that_quits_ends_the_stream_cleanly(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, tls: Options);
        await using SslStream client = await ConnectAsync(server);

        await client.WriteAsync("echo one\nquit\n"u8.ToArray());

        Assert.Equal("one\n", await ReadAsync(client, 100)); // The connection ends properly, without a reset.
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Client_that_does_not_speak_tls_is_closed(LoopUnderTest loop)
    {
        await using var server = await TestServer.StartAsync(loop, tls: Options);
        using TestClient client = server.Connect();

        client.Send("echo this is no handshake at all\n");
        _ = client.ReadToEnd(); // The alert that TLS sends.
        client.Dispose();

        Assert.Equal(CloseReason.TlsFailed, server.Sessions.TakeClosed());
        Assert.Contains(server.Log.Lines, line => line.Level == LogLevel.Warning && line.Message.StartsWith("TLS with 127.0.0.1:", StringComparison.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Handshake_must_be_done_in_time(LoopUnderTest loop)
    {
        var clock = new ManualClock(hasTimers: true);
        await using var server = await TestServer.StartAsync(loop, options => options with { Clock = clock }, tls: Options);
        using TestClient client = server.Connect();
        ClientConnection connection = server.Sessions.Connected.Take();
        await connection.UntilWorker(() => connection.Tls is not null);

        clock.Advance(TimeSpan.FromSeconds(61));
        server.Engine.Wake();
        Assert.Equal("", client.ReadToEnd());
        client.Dispose();

        Assert.Equal(CloseReason.TlsFailed, server.Sessions.TakeClosed());
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Record_must_be_complete_in_time_and_is_counted_until_then(LoopUnderTest loop)
    {
        const int Clients = 20;
        var clock = new ManualClock(hasTimers: true);
        await using var server = await TestServer.StartAsync(loop, options => options with { Clock = clock, Workers = 1 }, tls: Options);
        await using SslStream other = await ConnectAsync(server);
        var clients = new List<Socket>();
        for (int i = 0; i < Clients; i++)
        {
            var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
            clients.Add(socket);
            SslStream stream = await ConnectAsync(server, socket: socket);
            await stream.WriteAsync("echo a\n"u8.ToArray());
            Assert.Equal("a\n", await ReadAsync(stream, 2));
            long received = server.Engine.Connections.Sum(connection => connection.BytesReceived);
            socket.Send([0x17, 3, 3, 0x40, 0, .. new byte[10_000]]);
            while (server.Engine.Connections.Sum(connection => connection.BytesReceived) < received + 10_005)
            {
                await server.Engine.UntilTurnedAsync();
            }
        }

        Assert.InRange(server.Engine.Connections.Sum(connection => connection.HeldBytes), Clients * 16_384, Clients * 65_536);
        Assert.InRange(server.Engine.Memory.Bytes, Clients * 16_384, 8 << 20);
        await other.WriteAsync("echo b\n"u8.ToArray());
        Assert.Equal("b\n", await ReadAsync(other, 2));
        clock.Advance(TimeSpan.FromSeconds(61));
        server.Engine.Wake();
        await server.Engine.UntilTurnedAsync();
        clients.ForEach(client => client.Dispose());

        Assert.All(Enumerable.Range(0, Clients), _ => Assert.Equal(CloseReason.RequestTooSlow, server.Sessions.TakeClosed()));
        await other.WriteAsync("echo c\n"u8.ToArray());
        Assert.Equal("c\n", await ReadAsync(other, 2));
        Assert.Equal(0, server.Engine.Connections.Sum(connection => connection.HeldBytes));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(7)]
    [InlineData(1000)]
    public void Records_are_followed_however_they_arrive(int pieceBytes)
    {
        byte[] records = [0x16, 3, 1, 0, 3, 1, 2, 3, 0x17, 3, 3, 0, 0, 0x17, 3, 3, 1, 1, .. new byte[257]];
        var followed = new TlsRecords();
        int[] ends = [8, 13, records.Length];

        for (int start = 0; start < records.Length; start += pieceBytes)
        {
            int end = Math.Min(records.Length, start + pieceBytes);
            followed.Follow(records.AsSpan(start..end));
            Assert.Equal(!ends.Contains(end), followed.IsWithin);
        }
    }

    [Fact]
    public async Task Tls_1_1_is_refused_and_1_2_is_not()
    {
        await using var server = await TestServer.StartAsync(LoopUnderTest.Epoll, tls: Options);

#pragma warning disable CA5397, CA5398, SYSLIB0039 // The accepted versions are under test.
        await using SslStream client = await ConnectAsync(server, protocols: SslProtocols.Tls12);
        Assert.Equal(SslProtocols.Tls12, client.SslProtocol);
        await Assert.ThrowsAnyAsync<Exception>(() => ConnectAsync(server, protocols: SslProtocols.Tls11));
#pragma warning restore CA5397, CA5398, SYSLIB0039
    }

    [Theory]
    [InlineData(ClientCertificateMode.None, false, true)]
    [InlineData(ClientCertificateMode.Optional, false, true)]
    [InlineData(ClientCertificateMode.Optional, true, true)]
    [InlineData(ClientCertificateMode.Required, false, false)]
    [InlineData(ClientCertificateMode.Required, true, true)]
    public async Task Client_certificate_is_asked_for_as_configured(ClientCertificateMode mode, bool shows, bool isServed)
    {
        TlsOptions options = Options with { ClientCertificates = mode, ClientAuthoritiesPath = _certificates.AuthorityPath };
        await using var server = await TestServer.StartAsync(LoopUnderTest.Epoll, tls: options);

        Assert.Equal(isServed, await IsServedAsync(server, shows ? _certificates.Client : null));
    }

    [Theory]
    [InlineData(ClientCertificateMode.Optional)]
    [InlineData(ClientCertificateMode.Required)]
    public async Task Client_certificate_of_a_stranger_is_refused(ClientCertificateMode mode)
    {
        TlsOptions options = Options with { ClientCertificates = mode, ClientAuthoritiesPath = _certificates.AuthorityPath };
        await using var server = await TestServer.StartAsync(LoopUnderTest.Epoll, tls: options);

        Assert.False(await IsServedAsync(server, _certificates.Stranger));
    }

    [Fact]
    public async Task Certificate_that_changes_is_taken_up_and_a_broken_one_is_not()
    {
        var clock = new ManualClock(hasTimers: true);
        await using var server = await TestServer.StartAsync(LoopUnderTest.Epoll, options => options with { Clock = clock }, tls: Options);
        string first = await ServerSerialAsync(server);

        await File.WriteAllTextAsync(_certificates.ServerPath, "half writ");
        clock.Advance(CertificateSource.ReloadInterval);
        Assert.Equal(first, await ServerSerialAsync(server));
        Assert.Contains(server.Log.Lines, line => line.Level == LogLevel.Warning && line.Message.Contains("stays in use", StringComparison.Ordinal));

        _certificates.WriteServer();
        clock.Advance(CertificateSource.ReloadInterval);
        Assert.NotEqual(first, await ServerSerialAsync(server));
    }

    [Fact]
    public async Task Certificate_that_cannot_be_read_is_named()
    {
        TlsOptions options = Options with { KeyPath = Path.Combine(_directory.Path, "none.pem") };

        var e = await Assert.ThrowsAsync<ServerException>(() => TestServer.StartAsync(LoopUnderTest.Epoll, tls: options));

        Assert.Contains("none.pem", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Certificate_without_its_key_says_how_to_name_that()
    {
        TlsOptions options = Options with { KeyPath = null };

        var e = await Assert.ThrowsAsync<ServerException>(() => TestServer.StartAsync(LoopUnderTest.Epoll, tls: options));

        Assert.EndsWith("If its key is in another file, name that with --tls-key.", e.Message, StringComparison.Ordinal);
    }

    private static async Task<bool> IsServedAsync(TestServer server, X509Certificate2? certificate)
    {
        try
        {
            await using SslStream client = await ConnectAsync(server, certificate);
            await client.WriteAsync("echo hello\n"u8.ToArray());
            return await ReadAsync(client, 6) == "hello\n";
        }
        catch (Exception e) when (e is IOException or AuthenticationException)
        {
            return false;
        }
    }

    private static async Task<string> ServerSerialAsync(TestServer server)
    {
        await using SslStream client = await ConnectAsync(server);
        return client.RemoteCertificate!.GetSerialNumberString();
    }

    private static async Task<SslStream> ConnectAsync(
        TestServer server, X509Certificate2? certificate = null, SslProtocols protocols = SslProtocols.None, Socket? socket = null)
    {
        socket ??= new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(server.EndPoint);
        var stream = new SslStream(new NetworkStream(socket, ownsSocket: true));
        await stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = "localhost",
            EnabledSslProtocols = protocols,
            ClientCertificates = certificate is null ? null : [certificate],
#pragma warning disable CA5359 // The client's side is not under test.
            RemoteCertificateValidationCallback = (_, _, _, _) => true,
#pragma warning restore CA5359
        });
        return stream;
    }

    private static async Task<string> ReadAsync(SslStream stream, int bytes)
    {
        byte[] buffer = new byte[bytes];
        int count = await stream.ReadAtLeastAsync(buffer, bytes, throwOnEndOfStream: false).AsTask().WaitAsync(TimeSpan.FromSeconds(30));
        return Encoding.ASCII.GetString(buffer, 0, count);
    }
}
