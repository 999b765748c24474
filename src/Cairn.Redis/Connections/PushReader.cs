using Cairn.Protocol;

namespace Cairn.Redis.Connections;

/// <summary>Is told of what a server sends without being asked, on the thread that receives and in order with replies.</summary>
/// <param name="connection">Who received it.</param>
/// <param name="push">Stands on the push itself; its elements come next.</param>
internal delegate void PushReader(ServerConnection connection, ref RespReplyReader push);
