using Cairn.Server.Buffers;

namespace Cairn.Server.Connections;

/// <summary>
/// The protocol state of a connection: turns input into replies. Only the connection's worker calls it, so it needs no locks. It must not
/// block and, once warm, must not allocate.
/// </summary>
internal abstract class Session
{
    /// <summary>
    /// Gets the number of bytes of input that <see cref="Execute"/> needs before it can consume more; 0 if any new byte may suffice.
    /// Prevents a long value from being examined again with every packet, and lets the connection enlarge its buffer once. A number above
    /// the limit ends the connection.
    /// </summary>
    public int NeededBytes { get; protected set; }

    /// <summary>Gets whether the request at the start of the input is partly executed, so that <see cref="Execute"/> continues without
    /// more input.</summary>
    public bool HasUnfinishedRequest { get; protected set; }

    /// <summary>Gets the bytes of memory that the unfinished request waits for; 0 for none. The request continues when the account allows
    /// a reply of this size.</summary>
    public long AwaitedBytes { get; protected set; }

    /// <summary>Returns whether the session must leave its request for now, because there is no memory for a reply of this many bytes,
    /// or because this turn has created enough long replies. The session is then executed again with the same input.</summary>
    protected bool MustAwaitMemory(ClientConnection? connection, long bytes)
    {
        if (bytes <= OutputArena.SharedBlockBytes / 4 || connection is null || connection.Held.TryTakeReply(bytes))
        {
            return false;
        }

        AwaitedBytes = bytes;
        HasUnfinishedRequest = true;
        return true;
    }

    /// <summary>Gets whether the client only receives messages that are dropped if it does not read them. Time limits for reading and for
    /// silence do not apply to it.</summary>
    public virtual bool OnlyReceives => false;

    /// <summary>Handles that all output was sent, if the client only receives.</summary>
    public virtual void OnDrained()
    {
    }

    /// <summary>Handles the start of the connection, when its channel is ready.</summary>
    public virtual void OnOpened()
    {
    }

    /// <summary>Reads ahead in input that is about to be executed and starts the memory fetches that it needs. Changes no state.
    /// Optional.</summary>
    public virtual void Prefetch(ReadOnlySpan<byte> input)
    {
    }

    /// <summary>
    /// Continues the look-ahead. Called once between <see cref="Prefetch"/> and <see cref="Execute"/>, after <see cref="Prefetch"/> of
    /// all connections that are served together. The memory that those calls fetched has arrived by now, so the next fetches can start
    /// (an entry whose bucket was fetched).
    /// </summary>
    public virtual void PrefetchFurther()
    {
    }

    /// <summary>
    /// Executes complete requests at the start of <paramref name="input"/> and appends their replies to <paramref name="output"/>. Stops
    /// when no complete request is left, and in these cases: the output is full (<see cref="OutputBuffer.IsFull"/>; called again when the
    /// client has read); memory is used up (<see cref="AwaitedBytes"/>; called again when some is free); <paramref name="budget"/> requests
    /// have been executed (called again in the next turn); a request makes the connection wait
    /// (<see cref="ClientConnection.WaitForCell"/>; called again when a cell may be free).
    /// </summary>
    /// <param name="input">The input that was not consumed yet; valid only during the call. Never empty.</param>
    /// <param name="output">The connection's output, or the input of TLS.</param>
    /// <param name="budget">The maximum number of requests to execute, 1 or more.</param>
    /// <returns>The number of bytes consumed. The next call gets the remaining bytes again, and those that follow.</returns>
    public abstract int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget);

    /// <summary>Writes the protocol's error, if it has one, when the engine is about to close the connection for a reason of its
    /// own.</summary>
    public virtual void OnClosing(CloseReason reason, OutputBuffer output)
    {
    }

    /// <summary>Handles the end of the connection. This is the last call.</summary>
    public virtual void OnClosed(CloseReason reason)
    {
    }
}
