using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Resp.Clients;

/// <summary>Client libraries get the same replies from Cairn as from redis-server: their scripts print the same.</summary>
public class ClientLibraryTests(RespServers servers) : IClassFixture<RespServers>
{
    [RequiresToolFact("redis-server", ClientScript.Python, "/usr/lib/python3/dist-packages/redis/__init__.py")]
    public async Task Redis_py_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("with_redis.py");

    [RequiresToolFact("redis-server", ClientScript.Python, "/usr/lib/python3/dist-packages/redis/__init__.py")]
    public async Task Locks_of_redis_py_are_acquired_extended_and_released() => await AssertAnswersAlikeAsync("locks_with_redis.py");

    [RequiresToolFact("redis-server", "cc", "/usr/include/hiredis/hiredis.h")]
    public async Task Hiredis_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("with_hiredis.c");

    [RequiresToolFact("redis-server", "node", "npm")]
    public async Task Ioredis_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("npm/with_ioredis.js");

    [RequiresToolFact("redis-server", "node", "npm")]
    public async Task Node_redis_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("npm/with_node_redis.js");

    [RequiresToolFact("redis-server", "php", "/usr/share/doc/php-redis/copyright")]
    public async Task Phpredis_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("with_phpredis.php");

    [RequiresToolFact("redis-server", "ruby", "/usr/share/doc/ruby-redis/copyright")]
    public async Task Redis_rb_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("with_redis.rb");

    [RequiresToolFact("redis-server", "php", "/usr/share/php/Predis/autoload.php")]
    public async Task Predis_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("with_predis.php");

    [RequiresToolFact("redis-server", "perl", "/usr/share/perl5/Redis.pm")]
    public async Task Redis_of_Perl_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("with_redis.pl");

    [RequiresToolFact("redis-server", "go", "/usr/share/gocode/src/github.com/gomodule/redigo/redis/conn.go")]
    public async Task Redigo_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("with_redigo.go");

    private Task AssertAnswersAlikeAsync(string script) =>
        ClientScript.AssertAnswersAlikeAsync($"Resp/Clients/{script}", servers.Redis, servers.Cairn);
}
