using System.Net.Sockets;
using Cairn.Server.Listening;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Listening;

/// <summary>Unix sockets and their files.</summary>
public sealed class UnixSocketTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    private string SocketPath => Path.Combine(_directory.Path, "s");

    public void Dispose() => _directory.Dispose();

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Request_over_a_unix_socket_is_answered_and_its_file_goes_with_the_server(LoopUnderTest loop)
    {
        await using (var server = await StartAsync(loop))
        {
            using TestClient client = Connect();
            client.Send("echo hello\nbig 3000000\n");

            Assert.Equal("hello", client.ReadLine());
            Assert.Equal(3_000_000, client.Skip(3_000_000));
            Assert.Equal("unix", server.Sessions.Connected.Take().RemoteText);
        }

        Assert.False(File.Exists(SocketPath));
    }

    [Fact]
    public async Task File_has_the_mode_that_was_asked_for()
    {
        const UnixFileMode Mode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite;

        await using var server = await StartAsync(LoopUnderTest.Epoll, Mode);

        Assert.Equal(Mode, File.GetUnixFileMode(SocketPath));
    }

    [Fact]
    public async Task File_of_a_dead_server_is_replaced()
    {
        LeaveDeadSocket();

        await using var server = await StartAsync(LoopUnderTest.Epoll);
        using TestClient client = Connect();
        client.Send("echo hello\n");

        Assert.Equal("hello", client.ReadLine());
    }

    [Fact]
    public async Task Socket_of_a_living_server_is_an_error_and_stays_its_own()
    {
        await using var first = await StartAsync(LoopUnderTest.Epoll);

        var e = await Assert.ThrowsAsync<ServerException>(() => StartAsync(LoopUnderTest.Epoll));

        Assert.Contains("Another server listens", e.Message, StringComparison.Ordinal);
        using TestClient client = Connect();
        client.Send("echo hello\n");
        Assert.Equal("hello", client.ReadLine());
    }

    [Fact]
    public async Task File_that_is_no_socket_is_not_touched()
    {
        await File.WriteAllTextAsync(SocketPath, "mine");

        var e = await Assert.ThrowsAsync<ServerException>(() => StartAsync(LoopUnderTest.Epoll));

        Assert.Contains("not a socket", e.Message, StringComparison.Ordinal);
        Assert.Equal("mine", await File.ReadAllTextAsync(SocketPath));
    }

    [Fact]
    public async Task File_that_another_program_created_meanwhile_stays()
    {
        await using (await StartAsync(LoopUnderTest.Epoll))
        {
            File.Delete(SocketPath);
            await File.WriteAllTextAsync(SocketPath, "mine");
        }

        Assert.Equal("mine", await File.ReadAllTextAsync(SocketPath));
    }

    [Fact]
    public async Task Path_that_is_too_long_is_named()
    {
        var address = ListenAddress.Unix(Path.Combine(_directory.Path, new string('x', 120)));

        var e = await Assert.ThrowsAsync<ServerException>(() => TestServer.StartAsync(LoopUnderTest.Epoll, address: address));

        Assert.Contains("107", e.Message, StringComparison.Ordinal);
    }

    private Task<TestServer> StartAsync(LoopUnderTest loop, UnixFileMode mode = UnixFileMode.UserRead | UnixFileMode.UserWrite) =>
        TestServer.StartAsync(loop, address: ListenAddress.Unix(SocketPath, mode));

    private TestClient Connect() => TestClient.Connect(new UnixDomainSocketEndPoint(SocketPath));

    // The state that a killed server leaves: a file without a listener. It is renamed meanwhile, because a .NET socket deletes its file
    // when it is closed.
    private void LeaveDeadSocket()
    {
        string bound = SocketPath + "-";
        using (var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified))
        {
            socket.Bind(new UnixDomainSocketEndPoint(bound));
            File.Move(bound, SocketPath);
        }
    }
}
