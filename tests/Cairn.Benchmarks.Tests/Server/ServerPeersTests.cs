using Cairn.Benchmarks.Server;

namespace Cairn.Benchmarks.Tests.Server;

public class ServerPeersTests
{
    [Theory]
    [InlineData("memcached 1.6.18", "mine 1.6.18")]
    [InlineData("memcached 1.6.41-dirty\n", "mine 1.6.41-dirty")]
    public void Memcached_is_known_by_what_it_says_of_its_version(string text, string name)
    {
        var program = ServerPeers.Recognize("mine", "server", text);

        Assert.Equal(name, Assert.IsType<MemcachedProgram>(program).Name);
    }

    [Theory]
    [InlineData("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=7e1be30b", "mine 7.0.15")]
    [InlineData("Valkey server v=9.0.0 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1", "mine 9.0.0")]
    public void Redis_and_its_kin_are_known_by_what_they_say_of_their_version(string text, string name)
    {
        var program = ServerPeers.Recognize("mine", "server", text);

        Assert.Equal(name, Assert.IsType<RedisProgram>(program).Name);
    }

    [Theory]
    [InlineData("")]
    [InlineData("cat (GNU coreutils) 9.1")]
    public void Other_programs_are_not_known(string text) => Assert.Null(ServerPeers.Recognize("mine", "server", text));

    [Fact]
    public void Server_is_reached_at_the_configured_addresses()
    {
        var cairn = new CairnServerProgram("cairn", "dotnet", "uring", "io_uring");
        var memcached = new MemcachedProgram("memcached", "memcached");
        var redis = new RedisProgram("Redis", "redis-server");

        Assert.Contains("127.0.0.1:4711", cairn.Arguments(new ServerAddress(4711), WireProtocol.Resp, "files"));
        Assert.Contains("unix:socket", cairn.Arguments(new ServerAddress(0, "socket"), WireProtocol.Memcached, "files"));
        Assert.Contains("4711", memcached.Arguments(new ServerAddress(4711), WireProtocol.Memcached, "files"));
        Assert.Contains("socket", memcached.Arguments(new ServerAddress(0, "socket"), WireProtocol.Memcached, "files"));
        Assert.Contains("4711", redis.Arguments(new ServerAddress(4711), WireProtocol.Resp, "files"));
        Assert.Contains("socket", redis.Arguments(new ServerAddress(0, "socket"), WireProtocol.Resp, "files"));
    }

    [Theory]
    [InlineData("memcached:mine=/opt/memcached", "Memcached", "mine", "/opt/memcached")]
    [InlineData("redis:Valkey=valkey-server", "Resp", "Valkey", "valkey-server")]
    [InlineData("memcached:other one=/opt/other -p {port} --name a=b", "Memcached", "other one", "/opt/other -p {port} --name a=b")]
    public void Named_peer_says_its_kind_its_name_and_its_program(string text, string protocol, string name, string command) =>
        Assert.Equal(new NamedPeer(Enum.Parse<WireProtocol>(protocol), name, command), NamedPeer.Parse(text));

    [Theory]
    [InlineData("mine=/opt/memcached")]
    [InlineData("garnet:mine=/opt/garnet")]
    [InlineData("memcached:=/opt/memcached")]
    [InlineData("memcached:mine=")]
    [InlineData("memcached:mine")]
    [InlineData("")]
    public void Other_texts_name_no_peer(string text) => Assert.Null(NamedPeer.Parse(text));

    [Theory]
    [InlineData("memcached 1.6.45", "1.6.45")]
    [InlineData("Valkey server v=9.1.2 sha=00000000:0 malloc=jemalloc-5.3.0", "9.1.2")]
    [InlineData("other server, version 1.3-beta (built 2026-01-01)", "1.3-beta")]
    [InlineData("no number", "")]
    public void Version_of_a_peer_is_the_first_number_with_dots(string text, string version) => Assert.Equal(version, ServerPeers.VersionIn(text));

    [Fact]
    public void Command_line_gets_the_port_and_a_folder()
    {
        var program = new CommandProgram("other", "/opt/other", WireProtocol.Memcached, ["-p", "{port}", "--dir={folder}"]);

        Assert.Equal(["-p", "4711", "--dir=files"], program.Arguments(new ServerAddress(4711), WireProtocol.Memcached, "files"));
        Assert.Throws<InvalidOperationException>(() => program.Arguments(new ServerAddress(0, "socket"), WireProtocol.Memcached, "files"));
    }

    [Fact]
    public void Named_program_that_is_missing_is_an_error_with_its_path()
    {
        var unavailable = Assert.Throws<Cairn.Benchmarks.Measuring.PeerUnavailableException>(
            () => ServerPeers.Named(new NamedPeer(WireProtocol.Memcached, "mine", "/nowhere/memcached")));

        Assert.Contains("'/nowhere/memcached' cannot be run", unavailable.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Goal_depends_on_why_a_peer_is_there()
    {
        var goals = new WorkloadGoals(1.6) { Echo = 0.95 };

        Assert.Equal([1.6, 1.6, 0.95, 1, 0.97], Enum.GetValues<PeerKind>().Select(kind => kind.GoalOf(goals)?.Bound));
    }
}
