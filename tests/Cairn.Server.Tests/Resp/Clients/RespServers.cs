using System.Net;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Resp.Clients;

/// <summary>A redis-server and a Cairn server for the tests of one class. redis-server starts on first use.</summary>
public sealed class RespServers : IAsyncLifetime
{
    // Much more than all scripts write, so that nothing is evicted.
    private const long CapacityBytes = 256 << 20;

    private RedisProcess? _redis;
    private StoreServer? _cairn;

    /// <summary>Gets the address of redis-server.</summary>
    public IPEndPoint Redis => (_redis ??= RedisProcess.Start()).EndPoint;

    /// <summary>Gets the address of Cairn.</summary>
    public IPEndPoint Cairn => _cairn!.EndPoint(WireProtocol.Resp);

    public async Task InitializeAsync() => _cairn = await StoreServer.StartAsync(capacityBytes: CapacityBytes);

    public async Task DisposeAsync()
    {
        _redis?.Dispose();
        if (_cairn is not null)
        {
            await _cairn.DisposeAsync();
        }
    }
}
