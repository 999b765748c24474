using Cairn.Server.Connections;
using Cairn.Server.Listening;

namespace Cairn.Server.Io;

/// <summary>
/// How a worker talks to the kernel: once per turn it collects what happened, and its channels send and receive. All calls come from
/// the worker's thread, but for <see cref="Wake"/>. What happens is told to the worker:
/// <see cref="Worker.OnReceived"/> and its neighbours, during <see cref="Collect"/> and <see cref="IoChannel.Send"/>.
/// </summary>
internal abstract class IoLoop : IDisposable
{
    /// <summary>What it uses, for the log: "io_uring (multishot receive, ...)".</summary>
    public abstract string Description { get; }

    /// <summary>Whether accepting has stopped because descriptors or memory ran out; <see cref="RetryAccept"/> tries again.</summary>
    public abstract bool IsAcceptPaused { get; }

    /// <summary>Makes it ready, on the thread that will use it.</summary>
    /// <exception cref="ServerException">The kernel does not let it.</exception>
    public abstract void Open(Worker worker);

    /// <summary>Accepts the clients of this listener from now on.</summary>
    public abstract void Listen(Listener listener);

    /// <summary>Accepts nobody any more. The listeners' sockets are the caller's to close.</summary>
    public abstract void StopListening();

    public abstract void RetryAccept();

    /// <summary>Takes over an accepted socket. <see cref="IoChannel.Start"/> starts to receive from it.</summary>
    public abstract IoChannel Adopt(AcceptedSocket socket, ClientConnection connection);

    /// <summary>Submits what was prepared, waits until something happens, and tells the worker all that happened.</summary>
    /// <param name="timeoutMs">How long to wait; 0 not at all, -1 until something happens.</param>
    /// <returns>Whether that was all: false if there is more to collect without waiting.</returns>
    public abstract bool Collect(int timeoutMs);

    /// <summary>The worker keeps nothing of what was received in this turn.</summary>
    public abstract void EndTurn();

    /// <summary>Returns memory that a burst has left. Nothing was received in this turn.</summary>
    public virtual void Trim()
    {
    }

    /// <summary>Ends a wait that is or will be under way. Any thread.</summary>
    public abstract void Wake();

    /// <summary>Lets go of everything. All channels are closed.</summary>
    public abstract void Dispose();
}
