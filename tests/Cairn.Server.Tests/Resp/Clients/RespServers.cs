using System.Net;

namespace Cairn.Server.Tests.Resp.Clients;

/// <summary>A redis-server and a Cairn server for the tests of one class. redis-server runs from when it is first needed.</summary>
public sealed class RespServers : IAsyncLifetime
{
    // Much more than all scripts write, so that nothing is evicted.
    private const long CapacityBytes = 256 << 20;

    private RedisProcess? _redis;
    private RespSocketServer? _cairn;

    /// <summary>The address of redis-server.</summary>
    public IPEndPoint Redis => (_redis ??= RedisProcess.Start()).EndPoint;

    /// <summary>The address of Cairn.</summary>
    public IPEndPoint Cairn => _cairn!.EndPoint;

    public async Task InitializeAsync() => _cairn = await RespSocketServer.StartAsync(capacityBytes: CapacityBytes);

    public async Task DisposeAsync()
    {
        _redis?.Dispose();
        if (_cairn is not null)
        {
            await _cairn.DisposeAsync();
        }
    }
}
