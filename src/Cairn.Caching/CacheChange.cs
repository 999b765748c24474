namespace Cairn.Caching;

/// <summary>A change as <see cref="ICacheInvalidation"/> tells it.</summary>
/// <param name="Key">The key, as <c>IDistributedCache</c> was given it, or what changed keys begin with.</param>
/// <param name="IsPrefix">True if every key that begins with <paramref name="Key"/> may have changed; an empty text is all keys.</param>
/// <param name="Sender">Who made the change: the value that came with <see cref="ICacheInvalidation.PublishAsync"/>. Empty if it is not
/// known, which counts as another's change: a channel that reports changes by itself leaves those out that were made through it.</param>
public readonly record struct CacheChange(string Key, bool IsPrefix, Guid Sender);
