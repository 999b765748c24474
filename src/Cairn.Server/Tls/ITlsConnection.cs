using Cairn.Server.Buffers;

namespace Cairn.Server.Tls;

/// <summary>A connection, as TLS between its session and its channel sees it. Worker only.</summary>
internal interface ITlsConnection
{
    /// <summary>Gets the output of the session.</summary>
    OutputBuffer Output { get; }

    /// <summary>Gets the pool of the blocks for decrypted input.</summary>
    BlockPool Pool { get; }

    /// <summary>Gets whether requests may still be executed.</summary>
    bool IsOpen { get; }

    bool IsClosed { get; }

    /// <summary>Gets whether this thread is the connection's worker.</summary>
    bool IsOnWorker { get; }

    /// <summary>Counts memory that the connection holds or, with a negative number, has released.</summary>
    void Charge(int bytes);

    /// <summary>Appends decrypted input for the session.</summary>
    void Append(ReadOnlySpan<byte> bytes);

    /// <summary>Ends the input, because the client has ended the stream within TLS.</summary>
    void EndInput();

    /// <summary>Requests that the connection is served, because there is input, or output of the handshake, or the output may
    /// continue.</summary>
    void MakeReady();

    /// <summary>Handles a failed handshake, or input that cannot be decrypted. The alert of TLS is sent first.</summary>
    void OnFailed(Exception e);
}
