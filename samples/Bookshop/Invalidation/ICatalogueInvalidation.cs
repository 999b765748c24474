namespace Bookshop.Invalidation;

/// <summary>
/// Removes from the cache what a change made wrong. Called after the change is committed; when the task has ended, no later request of this
/// process is served the old.
/// </summary>
internal interface ICatalogueInvalidation
{
    ValueTask BookChangedAsync(int id);

    ValueTask AuthorChangedAsync(int id);

    /// <summary>Removes everything, because the changed books are unknown.</summary>
    ValueTask AnythingChangedAsync();
}
