namespace Cairn.Caching;

/// <summary>A change that <see cref="ICacheInvalidation"/> reports.</summary>
/// <param name="Key">The key as <c>IDistributedCache</c> received it, or the prefix of the changed keys.</param>
/// <param name="IsPrefix">True if every key that begins with <paramref name="Key"/> may have changed; the empty prefix means all keys.</param>
/// <param name="Sender">The sender of the change: the value that was passed to <see cref="ICacheInvalidation.PublishAsync"/>. Empty if the
/// sender is not known; the change then counts as another process's. A channel that detects changes without messages must leave out the changes
/// that were made through it.</param>
public readonly record struct CacheChange(string Key, bool IsPrefix, Guid Sender);
