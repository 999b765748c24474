namespace Bookshop.Invalidation;

/// <summary>Does nothing, for read paths that query the database each time.</summary>
internal sealed class NoInvalidation : ICatalogueInvalidation
{
    public ValueTask BookChangedAsync(int id) => ValueTask.CompletedTask;

    public ValueTask AuthorChangedAsync(int id) => ValueTask.CompletedTask;

    public ValueTask AnythingChangedAsync() => ValueTask.CompletedTask;
}
