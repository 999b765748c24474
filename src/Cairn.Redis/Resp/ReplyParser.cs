using Cairn.Protocol;

namespace Cairn.Redis.Resp;

/// <summary>Converts a reply without an error to a result. Runs on the receiving thread: it must copy the bytes and must not block.</summary>
/// <param name="reply">The reader, positioned at the reply's first element.</param>
/// <param name="state">The state that the caller provided, such as the destination of the bytes.</param>
internal delegate T ReplyParser<out T>(ref RespReplyReader reply, object? state);
