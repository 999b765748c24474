namespace Cairn.Protocol;

/// <summary>A request that a <see cref="RespRequestReader"/> read: the range of its arguments among the reader's arguments.</summary>
/// <param name="FirstArgument">The index of its first argument, the command's name.</param>
/// <param name="ArgumentCount">The number of arguments. 0 for an empty line or an empty array, which need no action and no reply.</param>
internal readonly record struct RespRequest(int FirstArgument, int ArgumentCount);
