namespace Cairn.Server.Resp.PubSub;

/// <summary>What other connections have to tell a client.</summary>
internal enum InboxKind
{
    /// <summary>A message on a channel.</summary>
    Message,

    /// <summary>A key changed; its name is in place of the channel.</summary>
    Invalidate,

    /// <summary>Every key may have changed.</summary>
    InvalidateAll,

    /// <summary>The connection has ended that was to be told of changes.</summary>
    RedirectionBroken,
}

/// <summary>Something to tell a client.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Message">The bytes.</param>
/// <param name="Pattern">The pattern that a message's channel matched, if the client subscribed to that.</param>
/// <param name="IsRedirected">Whether it is told in place of another client.</param>
internal readonly record struct InboxItem(InboxKind Kind, PublishedMessage Message, string? Pattern, bool IsRedirected);
