namespace Bookshop.Books;

// TypedResults.Ok would work too. But it serializes the book for each response, in chunks because it cannot know the length. It also creates a
// logger from services that are created for the request.

/// <summary>The response with a book that was found.</summary>
internal sealed class FoundBook(BookDetails book) : IResult
{
    private const string ContentType = "application/json; charset=utf-8";

    public BookDetails Book => book;

    public Task ExecuteAsync(HttpContext httpContext)
    {
        var response = httpContext.Response;
        response.ContentType = ContentType;
        response.ContentLength = book.Json.Length;
        var writing = response.BodyWriter.WriteAsync(book.Json);
        return writing.IsCompletedSuccessfully ? Task.CompletedTask : writing.AsTask();
    }
}
