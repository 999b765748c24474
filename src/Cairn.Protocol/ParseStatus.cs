namespace Cairn.Protocol;

/// <summary>The result of reading a message at the start of an input.</summary>
internal enum ParseStatus
{
    /// <summary>The message is longer than the input. Nothing is consumed. Call again with more bytes.</summary>
    Incomplete = 0,

    /// <summary>A whole message was read and consumed.</summary>
    Complete = 1,

    /// <summary>
    /// The input contains the whole message except its data block. Nothing is consumed. Call again when the input contains the block, or
    /// skip the message.
    /// </summary>
    IncompleteValue = 2,

    /// <summary>The message violates the protocol and is consumed. The next message can be read after it.</summary>
    Malformed = 3,

    /// <summary>The input violates the protocol, and the next message cannot be found. The connection must be closed.</summary>
    Fatal = 4,
}
