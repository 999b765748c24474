namespace Bookshop.Invalidation;

/// <summary>For read paths that ask the database each time.</summary>
internal sealed class NoInvalidation : ICatalogueInvalidation
{
    public ValueTask BookChangedAsync(int id) => ValueTask.CompletedTask;

    public ValueTask AuthorChangedAsync(int id) => ValueTask.CompletedTask;

    public ValueTask AnythingChangedAsync() => ValueTask.CompletedTask;
}
