using Microsoft.Extensions.Primitives;

namespace Cairn.Caching;

/// <summary>What a factory may know of the entry it makes a value for, and decide about it.</summary>
/// <typeparam name="T">The value's type.</typeparam>
/// <remarks>Valid until the factory's task ends. Use it from one thread at a time.</remarks>
public sealed class CacheFactoryContext<T>
{
    private readonly CacheResult<T> _stale;
    private List<string>? _tags;

    internal CacheFactoryContext(string key, CairnEntryOptions options, CacheResult<T> stale, string? etag, DateTimeOffset? lastModified)
    {
        Key = key;
        Options = options;
        _stale = stale;
        ETag = etag;
        LastModified = lastModified;
    }

    /// <summary>The entry's key.</summary>
    public string Key { get; }

    /// <summary>
    /// How the entry will be cached: at first as the caller and the defaults say. A factory that knows better sets other options:
    /// <c>context.Options = context.Options with { Expiration = ... }</c>. Time-outs and flags that were in force already are not changed.
    /// </summary>
    public CairnEntryOptions Options { get; set; }

    /// <summary>The expired value, if there still is one.</summary>
    public CacheResult<T> Stale => _stale;

    /// <summary>The validator that came with <see cref="Stale"/>; set it to that of the new value. Null for none.</summary>
    public string? ETag { get; set; }

    /// <summary>When the source had changed <see cref="Stale"/> last; set it to that of the new value. Null if unknown.</summary>
    public DateTimeOffset? LastModified { get; set; }

    /// <summary>False if the value is to be handed to the callers and forgotten. Default true.</summary>
    public bool IsCached { get; private set; } = true;

    internal IReadOnlyList<string>? Tags => _tags;

    /// <summary>Tags the entry, besides the tags that the caller named.</summary>
    /// <param name="tag">The tag; not empty, and not <c>*</c>.</param>
    /// <exception cref="ArgumentException">The tag is empty or <c>*</c>.</exception>
    public void AddTag(string tag)
    {
        Tagging.TagNames.Check(tag);
        (_tags ??= []).Add(tag);
    }

    /// <summary>Makes the entry depend on a token, which is watched from when the value is kept.</summary>
    /// <param name="token">A change of it removes the entry.</param>
    public void AddDependency(IChangeToken token)
    {
        ArgumentNullException.ThrowIfNull(token);
        Options = Options with { ChangeTokens = [.. Options.ChangeTokens ?? [], token] };
    }

    /// <summary>Hands the value to the callers without keeping it.</summary>
    public void DoNotCache() => IsCached = false;

    /// <summary>The source says that the expired value is still good: it becomes fresh again.</summary>
    /// <returns>The expired value, for the factory to return.</returns>
    /// <exception cref="InvalidOperationException">There is no expired value: <see cref="Stale"/> tells.</exception>
    public T NotModified() => _stale.IsFound
        ? _stale.Value!
        : throw new InvalidOperationException($"There is no earlier value of '{Key}' that could be unmodified. Look at Stale.IsFound first.");
}
