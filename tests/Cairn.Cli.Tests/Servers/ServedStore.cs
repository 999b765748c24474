using Cairn.Server;

namespace Cairn.Cli.Tests.Servers;

/// <summary>A small store that this process serves on ports that the system chose.</summary>
internal sealed class ServedStore : IDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly CairnServer _server;

    public ServedStore(Func<ServerOptions, ServerOptions>? change = null)
    {
        var options = new ServerOptions
        {
            StorePath = _directory.FilePath,
            CapacityBytes = 256L << 20,
            Memcached = "127.0.0.1:0",
            Resp = "127.0.0.1:0",
            Workers = 1,
        };
        _server = Wait(CairnServer.StartAsync(change?.Invoke(options) ?? options));
    }

    /// <summary>Gets the address for memcached's protocol.</summary>
    public string Memcached => AddressOf("memcached");

    /// <summary>Gets the address for RESP.</summary>
    public string Resp => AddressOf("resp");

    public string SocketPath(string name) => _directory[name];

    /// <summary>Opens the store.</summary>
    public CairnStore Open() => CairnStore.Open(new StoreOptions { Path = _directory.FilePath, FlushOnClose = false });

    public void Dispose()
    {
        Wait(_server.DisposeAsync().AsTask());
        _directory.Dispose();
    }

#pragma warning disable VSTHRD002 // A test has no synchronization context that this could wait for.
    private static void Wait(Task task) => task.Wait();

    private static T Wait<T>(Task<T> task) => task.Result;
#pragma warning restore VSTHRD002

    private string AddressOf(string name) =>
        _server.Addresses.First(pair => pair.Key.Contains(name, StringComparison.OrdinalIgnoreCase)).Value;
}
