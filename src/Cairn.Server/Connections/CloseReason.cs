namespace Cairn.Server.Connections;

/// <summary>The reason why a connection ends.</summary>
internal enum CloseReason
{
    None = 0,

    // The client ends the connection.
    ClosedByClient,
    Reset,

    // The server sends the remaining output first.
    ClosedBySession,
    Killed,
    ServerStopping,
    RequestTooLarge,
    RequestTooSlow,
    Idle,
    TlsFailed,

    // The server closes at once: the client does not read, or must not get the remaining output.
    ReaderTooSlow,
    ReaderStalled,
    TooMuchOutput,
    TransactionTooLong,
    OutOfMemory,
    SessionFailed,
    KilledAtOnce,
    ServerStopped,
}

internal static class CloseReasons
{
    /// <summary>The number of reasons, for statistics.</summary>
    public const int Count = (int)CloseReason.ServerStopped + 1;

    /// <summary>Returns whether the connection's remaining output is sent first.</summary>
    public static bool SendsRest(this CloseReason reason) =>
        reason is >= CloseReason.ClosedBySession and <= CloseReason.TlsFailed or CloseReason.ClosedByClient;
}
