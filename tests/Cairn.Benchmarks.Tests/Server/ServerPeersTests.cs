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
    public void Server_is_reached_where_it_is_told_to_listen()
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

    [Fact]
    public void Goal_depends_on_why_a_peer_is_there()
    {
        var goals = new WorkloadGoals(8) { Redis = 1.8, Named = 1.5 };

        Assert.Equal(
            [8, 1.8, null, 1.5, 0.97],
            Enum.GetValues<PeerKind>().Select(kind => kind.GoalOf(goals)?.Bound));
    }
}
