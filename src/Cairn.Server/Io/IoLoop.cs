using Cairn.Server.Listening;

namespace Cairn.Server.Io;

/// <summary>
/// A worker's interface to the kernel. Once per turn it collects events, and its channels send and receive. The worker's thread makes all
/// calls, except <see cref="Wake"/>. The loop reports events to its worker by <see cref="IIoWorker"/>, during <see cref="Collect"/> and
/// <see cref="IoChannel.Send"/>.
/// </summary>
internal abstract class IoLoop : IDisposable
{
    /// <summary>Gets a description of the kernel features in use, for the log: "io_uring (multishot receive, ...)".</summary>
    public abstract string Description { get; }

    /// <summary>Gets whether accepting has stopped because descriptors or memory ran out. <see cref="RetryAccept"/> tries
    /// again.</summary>
    public abstract bool IsAcceptPaused { get; }

    /// <summary>Opens the loop, on the thread that will use it.</summary>
    /// <exception cref="ServerException">The kernel does not permit it.</exception>
    public abstract void Open(IIoWorker worker);

    /// <summary>Accepts the clients of this listener from now on.</summary>
    public abstract void Listen(Listener listener);

    /// <summary>Stops accepting clients. The caller closes the listeners' sockets.</summary>
    public abstract void StopListening();

    public abstract void RetryAccept();

    /// <summary>Takes ownership of an accepted socket. <see cref="IoChannel.Start"/> starts to receive from it.</summary>
    public abstract IoChannel Adopt(AcceptedSocket socket, IIoConnection connection);

    /// <summary>Submits the prepared requests, waits for an event, and reports all events to the worker.</summary>
    /// <param name="timeoutMs">The maximum time to wait, in milliseconds; 0 does not wait, -1 waits until an event.</param>
    /// <returns>Whether all events were reported; false if there are more to collect without waiting.</returns>
    public abstract bool Collect(int timeoutMs);

    /// <summary>Sends what was prepared, without waiting. A loop that sends at once has nothing to do.</summary>
    public virtual void Flush()
    {
    }

    /// <summary>Ends the turn. The worker keeps no reference to input that was received in it.</summary>
    public abstract void EndTurn();

    /// <summary>Returns memory that is unused after a burst. Called in a turn without input.</summary>
    public virtual void Trim()
    {
    }

    /// <summary>Ends the present or the next wait. Thread-safe.</summary>
    public abstract void Wake();

    /// <summary>Releases all resources. All channels must be closed.</summary>
    public abstract void Dispose();
}
