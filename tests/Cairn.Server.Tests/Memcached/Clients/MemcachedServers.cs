using System.Net;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Memcached.Clients;

/// <summary>A memcached and a Cairn server for the tests of one class. memcached starts on first use.</summary>
public sealed class MemcachedServers : IAsyncLifetime
{
    private StockMemcached? _memcached;
    private StoreServer? _cairn;

    /// <summary>Gets the address of memcached.</summary>
    public IPEndPoint Memcached => (_memcached ??= StockMemcached.Start()).EndPoint;

    /// <summary>Gets the address of Cairn.</summary>
    public IPEndPoint Cairn => _cairn!.EndPoint(WireProtocol.Memcached);

    public async Task InitializeAsync() => _cairn = await StoreServer.StartAsync();

    public async Task DisposeAsync()
    {
        _memcached?.Dispose();
        if (_cairn is not null)
        {
            await _cairn.DisposeAsync();
        }
    }
}
