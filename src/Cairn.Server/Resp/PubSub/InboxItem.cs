namespace Cairn.Server.Resp.PubSub;

/// <summary>The kinds of messages from other connections to a client.</summary>
internal enum InboxKind
{
    /// <summary>A message on a channel.</summary>
    Message,

    /// <summary>Keys were changed. The message is one of <c>ChangedKeys</c>.</summary>
    Invalidate,

    /// <summary>Every key may have changed.</summary>
    InvalidateAll,

    /// <summary>The connection to which invalidations are redirected has ended.</summary>
    RedirectionBroken,
}

/// <summary>A message to a client, in its inbox.</summary>
/// <param name="Kind">The kind of the message.</param>
/// <param name="Message">The bytes.</param>
/// <param name="Pattern">The pattern that the channel matched, if the client subscribed to a pattern.</param>
/// <param name="IsRedirected">Whether the message is redirected from another client.</param>
internal readonly record struct InboxItem(InboxKind Kind, PublishedMessage Message, string? Pattern, bool IsRedirected);
