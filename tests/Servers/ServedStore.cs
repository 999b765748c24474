using Cairn.Server;

namespace Cairn.Testing;

/// <summary>Cairn's own server over a store, which is deleted on disposal.</summary>
internal sealed class ServedStore : IAsyncDisposable
{
    private readonly CairnServer _server;

    private ServedStore(CairnServer server) => _server = server;

    public string Resp => AddressOf("resp");

    public string Memcached => AddressOf("memcached");

    public static async Task<ServedStore> StartAsync() => new(await CairnServer.StartAsync(new ServerOptions
    {
        IsEphemeral = true,
        CapacityBytes = 64 << 20,
        Memcached = "127.0.0.1:0",
        Resp = "127.0.0.1:0",
        Workers = 1,
    }));

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    private string AddressOf(string protocol) =>
        _server.Addresses.Single(address => address.Key.Contains(protocol, StringComparison.OrdinalIgnoreCase)).Value;
}
