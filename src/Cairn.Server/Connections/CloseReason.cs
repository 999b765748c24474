namespace Cairn.Server.Connections;

/// <summary>Why a connection ends.</summary>
internal enum CloseReason
{
    None = 0,

    // The client's own end.
    ClosedByClient,
    Reset,

    // What was written before is sent first.
    ClosedBySession,
    Killed,
    ServerStopping,
    RequestTooLarge,
    RequestTooSlow,
    Idle,
    TlsFailed,

    // At once: the client does not read, or must not have the rest.
    ReaderTooSlow,
    ReaderStalled,
    TooMuchOutput,
    OutOfMemory,
    SessionFailed,
    KilledAtOnce,
    ServerStopped,
}

internal static class CloseReasons
{
    /// <summary>Reasons, counted for statistics.</summary>
    public const int Count = (int)CloseReason.ServerStopped + 1;

    /// <summary>Whether what the connection's output holds is sent first.</summary>
    public static bool SendsRest(this CloseReason reason) =>
        reason is >= CloseReason.ClosedBySession and <= CloseReason.TlsFailed or CloseReason.ClosedByClient;
}
