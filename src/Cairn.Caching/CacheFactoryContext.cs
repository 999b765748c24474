using Microsoft.Extensions.Primitives;

namespace Cairn.Caching;

/// <summary>The information that a factory gets about the entry it creates, and the decisions it can make about that entry.</summary>
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
    /// The options of the entry. Initially those of the caller, completed by the defaults. A factory can replace them:
    /// <c>context.Options = context.Options with { Expiration = ... }</c>. Time-outs and flags that already apply to the running call do not
    /// change. If the factory throws, its <see cref="CairnEntryOptions.FailSafe"/> decides whether the callers get an expired value:
    /// with <see cref="TimeSpan.Zero"/> they get the exception.
    /// </summary>
    public CairnEntryOptions Options { get; set; }

    /// <summary>The expired value, if the cache still has one.</summary>
    public CacheResult<T> Stale => _stale;

    /// <summary>The validator of <see cref="Stale"/>. The factory sets it to the validator of the new value. Null for none.</summary>
    public string? ETag { get; set; }

    /// <summary>The last modification of <see cref="Stale"/> at its source. The factory sets it to that of the new value. Null if unknown.</summary>
    public DateTimeOffset? LastModified { get; set; }

    /// <summary>False if the callers receive the value and the cache does not keep it. Default true.</summary>
    public bool IsCached { get; private set; } = true;

    internal IReadOnlyList<string>? Tags => _tags;

    /// <summary>Adds a tag to the entry, in addition to the caller's tags.</summary>
    /// <param name="tag">The tag; neither empty nor <c>*</c>.</param>
    /// <exception cref="ArgumentException">The tag is empty or <c>*</c>.</exception>
    public void AddTag(string tag)
    {
        Tagging.TagNames.Check(tag, nameof(tag));
        (_tags ??= []).Add(tag);
    }

    /// <summary>Makes the entry depend on a token. The cache watches the token from the moment it keeps the value.</summary>
    /// <param name="token">The token; its change removes the entry.</param>
    public void AddDependency(IChangeToken token)
    {
        ArgumentNullException.ThrowIfNull(token);
        Options = Options with { ChangeTokens = [.. Options.ChangeTokens ?? [], token] };
    }

    /// <summary>Returns the value to the callers without caching it.</summary>
    public void DoNotCache() => IsCached = false;

    /// <summary>Declares that the source has not changed since the expired value was created. The expired value becomes fresh again.</summary>
    /// <returns>The expired value, for the factory to return.</returns>
    /// <exception cref="InvalidOperationException">There is no expired value; check <see cref="Stale"/> first.</exception>
    public T NotModified() => _stale.IsFound
        ? _stale.Value!
        : throw new InvalidOperationException($"There is no earlier value of '{Key}' that could be unmodified. Look at Stale.IsFound first.");
}
