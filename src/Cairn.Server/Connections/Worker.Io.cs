using Cairn.Server.Io;

namespace Cairn.Server.Connections;

// The events of the loop. The loop knows connections only as IIoConnection; all of them belong to this worker.
internal sealed unsafe partial class Worker
{
    void IIoWorker.OnReceived(IIoConnection connection, byte* bytes, int count) => OnReceived((ClientConnection)connection, bytes, count);

    void IIoWorker.OnInputEnded(IIoConnection connection) => OnInputEnded((ClientConnection)connection);

    void IIoWorker.OnReset(IIoConnection connection) => OnReset((ClientConnection)connection);

    void IIoWorker.OnSent(IIoConnection connection) => OnSent((ClientConnection)connection);

    void IIoWorker.OnChannelClosed(IIoConnection connection) => OnChannelClosed((ClientConnection)connection);
}
