namespace Bookshop.Invalidation;

/// <summary>
/// Removes entries that a change made stale from the cache. Callers call it after the change is committed. When the task has completed, no later
/// request of this process receives a stale entry.
/// </summary>
internal interface ICatalogueInvalidation
{
    ValueTask BookChangedAsync(int id);

    ValueTask AuthorChangedAsync(int id);

    /// <summary>Removes everything, because the changed books are unknown.</summary>
    ValueTask AnythingChangedAsync();
}
