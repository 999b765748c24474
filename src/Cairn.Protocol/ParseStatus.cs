namespace Cairn.Protocol;

/// <summary>What a reader found at the start of its input.</summary>
public enum ParseStatus
{
    /// <summary>The message goes on beyond the input. Nothing is consumed; call again when there are more bytes.</summary>
    Incomplete = 0,

    /// <summary>A whole message was read and consumed.</summary>
    Complete = 1,

    /// <summary>
    /// Everything but the message's data block is there and was read. Nothing is consumed; call again when the input holds
    /// the block too, or skip the message.
    /// </summary>
    IncompleteValue = 2,

    /// <summary>The message breaks the protocol. It was consumed; the next message can be read after it.</summary>
    Malformed = 3,

    /// <summary>The input breaks the protocol so that no next message can be found: the connection has to be closed.</summary>
    Fatal = 4,
}
