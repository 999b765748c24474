using Cairn.Protocol;

namespace Cairn.Clients.Connections;

/// <summary>Finds the boundaries of replies in received bytes. An instance serves one connection.</summary>
internal abstract class WireFormat
{
    /// <summary>Gets the protocol's name for messages.</summary>
    public abstract string Name { get; }

    /// <summary>Gets the number of input bytes to wait for after an incomplete reply, before the next scan.</summary>
    public abstract int NeededBytes { get; }

    /// <summary>
    /// Finds the end of the reply at the start of the input. After an incomplete reply, the next input must begin with the same bytes.
    /// </summary>
    public abstract ParseStatus TryScan(ReadOnlySpan<byte> input, out int replyBytes);

    /// <summary>Returns whether a complete message is a push, not the reply to a request.</summary>
    public virtual bool IsPush(ReadOnlySpan<byte> reply) => false;

    /// <summary>Returns the text of a reply that is an error; null for any other reply.</summary>
    public virtual string? ErrorOf(ReadOnlySpan<byte> reply) => null;
}
