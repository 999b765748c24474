using System.Net;

namespace Cairn.Server.Tests.Memcached.Clients;

/// <summary>A memcached and a Cairn server for the tests of one class. memcached runs from when it is first needed.</summary>
public sealed class MemcachedServers : IAsyncLifetime
{
    private StockMemcached? _memcached;
    private MemcachedServer? _cairn;

    /// <summary>The address of memcached.</summary>
    public IPEndPoint Memcached => (_memcached ??= StockMemcached.Start()).EndPoint;

    /// <summary>The address of Cairn.</summary>
    public IPEndPoint Cairn => _cairn!.EndPoint;

    public async Task InitializeAsync() => _cairn = await MemcachedServer.StartAsync();

    public async Task DisposeAsync()
    {
        _memcached?.Dispose();
        if (_cairn is not null)
        {
            await _cairn.DisposeAsync();
        }
    }
}
