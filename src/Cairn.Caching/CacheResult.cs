namespace Cairn.Caching;

/// <summary>The result of a read.</summary>
/// <typeparam name="T">The value's type.</typeparam>
/// <param name="IsFound">True if there is a value, which may be a cached null.</param>
/// <param name="Value">The value; the type's default if there is none.</param>
/// <param name="IsStale">True if the value has expired and was served because of <see cref="CairnEntryOptions.FailSafe"/>.</param>
public readonly record struct CacheResult<T>(bool IsFound, T? Value, bool IsStale);
