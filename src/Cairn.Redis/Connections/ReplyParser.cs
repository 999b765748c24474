using Cairn.Protocol;

namespace Cairn.Redis.Connections;

/// <summary>Converts a reply without an error to a result. Runs on the receiving thread: it must copy the bytes and must not block.</summary>
/// <param name="reply">The reader, positioned at the reply's first element.</param>
/// <param name="state">The state that the caller provided, such as the destination of the bytes.</param>
internal delegate T ReplyParser<out T>(ref RespReplyReader reply, object? state);

/// <summary>Converts a reply that is not RESP to a result, under the same conditions as <see cref="ReplyParser{T}"/>.</summary>
/// <param name="reply">The bytes of the whole reply.</param>
/// <param name="state">The state that the caller provided.</param>
internal delegate T WrittenReplyParser<out T>(ReadOnlySpan<byte> reply, object? state);
