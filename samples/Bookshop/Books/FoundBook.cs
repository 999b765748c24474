using Bookshop.Invalidation;
using Microsoft.AspNetCore.OutputCaching;

namespace Bookshop.Books;

// TypedResults.Ok would do, but it writes the book anew for each response, in chunks because it cannot know the length, and makes a logger with
// services that are made for the request.

/// <summary>Answers with a book.</summary>
internal sealed class FoundBook(BookDetails book) : IResult
{
    private const string ContentType = "application/json; charset=utf-8";

    public async Task ExecuteAsync(HttpContext httpContext)
    {
        // Whose book it is, the output cache cannot know from the request. Without output cache there is no such feature.
        httpContext.Features.Get<IOutputCacheFeature>()?.Context.Tags.Add(CacheTags.Author(book.Author.Id));
        httpContext.Response.ContentType = ContentType;
        httpContext.Response.ContentLength = book.Json.Length;
        await httpContext.Response.BodyWriter.WriteAsync(book.Json);
    }
}
