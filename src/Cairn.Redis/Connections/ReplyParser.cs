using Cairn.Protocol;

namespace Cairn.Redis.Connections;

/// <summary>Makes a result of a reply that is no error. Runs on the thread that receives: it copies, and calls nothing that waits.</summary>
/// <param name="reply">Stands on the reply's first element.</param>
/// <param name="state">What the caller gave along, such as where the bytes go.</param>
internal delegate T ReplyParser<out T>(ref RespReplyReader reply, object? state);

/// <summary>The same of a reply that is not RESP.</summary>
/// <param name="reply">All of it.</param>
/// <param name="state">What the caller gave along.</param>
internal delegate T WrittenReplyParser<out T>(ReadOnlySpan<byte> reply, object? state);
