namespace Cairn.Clients.Connections;

/// <summary>Handles a push: data that a server sends without a request. Runs on the receiving thread, in order with replies.</summary>
/// <param name="connection">The connection that received the push.</param>
/// <param name="push">The bytes of the whole message, valid during the call.</param>
internal delegate void PushReader(ServerConnection connection, ReadOnlySpan<byte> push);
