using Cairn.Server.Buffers;

namespace Cairn.Server.Io;

/// <summary>A connection, as a channel sees it. Worker only.</summary>
internal interface IIoConnection
{
    /// <summary>Gets the output that the channel sends.</summary>
    OutputBuffer WireOutput { get; }

    /// <summary>Gets whether the worker has something to do when the output has been sent.</summary>
    bool AwaitsSent { get; }

    /// <summary>Counts bytes that the kernel took.</summary>
    void CountSent(long bytes);
}
