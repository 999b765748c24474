namespace Cairn.Server.Connections;

/// <summary>
/// What a connection speaks: turns the bytes that arrive into replies. Called by the connection's worker only, so it needs
/// no locks; it must not block and, once warm, not allocate.
/// </summary>
internal abstract class Session
{
    /// <summary>
    /// Bytes of input that must be there before <see cref="Execute"/> can consume anything more; 0 if any new byte may do. Keeps a
    /// long value from being looked at again with every packet, and lets the connection grow its buffer once. More than the
    /// limits allow ends the connection.
    /// </summary>
    public int NeededBytes { get; protected set; }

    /// <summary>Whether the request at the start of the input is being executed, so that <see cref="Execute"/> goes on without more input.</summary>
    public bool HasUnfinishedRequest { get; protected set; }

    /// <summary>Bytes of memory that the unfinished request waits for: it goes on when the account allows a reply of so many; 0 for none.</summary>
    public long AwaitedBytes { get; protected set; }

    /// <summary>Looks ahead over input that is about to be executed and starts the memory fetches it will need. Changes
    /// nothing. Optional work.</summary>
    public virtual void Prefetch(ReadOnlySpan<byte> input)
    {
    }

    /// <summary>
    /// Called once between <see cref="Prefetch"/> and <see cref="Execute"/>, when all connections that are served together had their
    /// <see cref="Prefetch"/>: what those fetches were for has arrived by now, and the next ones (an entry whose bucket
    /// was fetched) can be started.
    /// </summary>
    public virtual void PrefetchFurther()
    {
    }

    /// <summary>
    /// Executes complete requests at the start of <paramref name="input"/> and appends their replies to <paramref name="output"/>. Stops
    /// when no complete request is left, when the output is full (<see cref="OutputBuffer.IsFull"/>; called again when the
    /// client has read), when memory is used up (<see cref="AwaitedBytes"/>; called again when there is some), after
    /// <paramref name="budget"/> requests (called again in the next turn), or when a request has the connection wait
    /// (<see cref="ClientConnection.WaitForCell"/>; called again when a cell may be free).
    /// </summary>
    /// <param name="input">What arrived and was not consumed yet; valid during the call only. Never empty.</param>
    /// <param name="output">The connection's output, or that of TLS.</param>
    /// <param name="budget">Requests to execute at most, 1 or more.</param>
    /// <returns>Bytes consumed. What is not consumed comes again, with what follows it.</returns>
    public abstract int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget);

    /// <summary>The engine is about to close the connection for one of its own reasons; a protocol that has an error for it
    /// writes it here.</summary>
    public virtual void OnClosing(CloseReason reason, OutputBuffer output)
    {
    }

    /// <summary>The connection has ended. Nothing is called afterwards.</summary>
    public virtual void OnClosed(CloseReason reason)
    {
    }
}
