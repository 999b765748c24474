using Bookshop.Invalidation;
using Microsoft.AspNetCore.OutputCaching;

namespace Bookshop.Books;

// TypedResults.Ok would do, but it makes a logger for each response, with services that are made for the request.

/// <summary>Answers with a book.</summary>
internal sealed class FoundBook(BookDetails book) : IResult
{
    public Task ExecuteAsync(HttpContext httpContext)
    {
        // Whose book it is, the output cache cannot know from the request. Without output cache there is no such feature.
        httpContext.Features.Get<IOutputCacheFeature>()?.Context.Tags.Add(CacheTags.Author(book.Author.Id));
        return httpContext.Response.WriteAsJsonAsync(book, BookshopJson.Default.BookDetails, cancellationToken: httpContext.RequestAborted);
    }
}
