using Cairn.Protocol;

namespace Cairn.Redis.Connections;

/// <summary>Handles a push: data that a server sends without a request. Runs on the receiving thread, in order with replies.</summary>
/// <param name="connection">The connection that received the push.</param>
/// <param name="push">The reader, positioned at the push itself; the next read returns its first element.</param>
internal delegate void PushReader(ServerConnection connection, ref RespReplyReader push);
