using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Resp.Clients;

/// <summary>Client libraries, which cannot tell Cairn from redis-server by what their scripts ask.</summary>
public class ClientLibraryTests(RespServers servers) : IClassFixture<RespServers>
{
    [RequiresToolFact("redis-server", ClientScript.Python, "/usr/lib/python3/dist-packages/redis/__init__.py")]
    public async Task Redis_py_is_answered_as_by_redis() => await AssertAnswersAlikeAsync("with_redis.py");

    private Task AssertAnswersAlikeAsync(string script, params string[] arguments) =>
        ClientScript.AssertAnswersAlikeAsync($"Resp/Clients/{script}", servers.Redis, servers.Cairn, arguments);
}
