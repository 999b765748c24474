namespace Cairn.Caching;

/// <summary>What a look into the cache found.</summary>
/// <typeparam name="T">The value's type.</typeparam>
/// <param name="IsFound">True if there is a value, which may be a cached null.</param>
/// <param name="Value">The value; the type's default if there is none.</param>
/// <param name="IsStale">True if its expiration has passed and it is there for <see cref="CairnEntryOptions.FailSafe"/>.</param>
public readonly record struct CacheResult<T>(bool IsFound, T? Value, bool IsStale);
