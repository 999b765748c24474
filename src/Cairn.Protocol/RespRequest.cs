namespace Cairn.Protocol;

/// <summary>A request that a <see cref="RespRequestReader"/> read: which of the reader's arguments are its own.</summary>
/// <param name="FirstArgument">Place of its first argument, the command's name, among the reader's.</param>
/// <param name="ArgumentCount">How many it has. 0 for an empty line or an empty array: nothing to do and nothing to reply.</param>
public readonly record struct RespRequest(int FirstArgument, int ArgumentCount);
