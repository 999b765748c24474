using Cairn.Protocol;

namespace Cairn.Redis.Connections;

/// <summary>Where replies end in what a server sends. One serves one connection.</summary>
internal abstract class WireFormat
{
    /// <summary>After an incomplete reply: how many bytes there have to be for another look to be worth it.</summary>
    public abstract int NeededBytes { get; }

    /// <summary>Looks for the end of the reply at the start of the input. After an incomplete one, the next input begins with the same bytes.</summary>
    public abstract ParseStatus TryScan(ReadOnlySpan<byte> input, out int replyBytes);

    /// <summary>Whether a whole reply is none, but something that the server sent by itself.</summary>
    public virtual bool IsPush(ReadOnlySpan<byte> reply) => false;
}
