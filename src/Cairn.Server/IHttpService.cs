using System.Net.Sockets;

namespace Cairn.Server;

/// <summary>
/// What speaks HTTP for a server. The server listens itself, and makes one of these when the first client connects: until then nothing of it
/// is loaded.
/// </summary>
public interface IHttpService : IAsyncDisposable
{
    /// <summary>Serves a client from now on, and closes the connection at its end. Called by one thread at a time; returns at once.</summary>
    /// <param name="client">A connected stream socket, which is the service's from now on.</param>
    void Serve(Socket client);
}
