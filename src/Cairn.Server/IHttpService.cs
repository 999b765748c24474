using System.Net.Sockets;

namespace Cairn.Server;

/// <summary>
/// A service that speaks HTTP for a server. The server listens, and creates the service when the first client connects. Until then, the
/// service's code is not loaded.
/// </summary>
public interface IHttpService : IAsyncDisposable
{
    /// <summary>Serves a client and closes its connection at the end. Only one thread at a time calls this method. It returns at
    /// once.</summary>
    /// <param name="client">A connected stream socket. The service owns it from now on.</param>
    void Serve(Socket client);
}
