namespace Bookshop.Books;

// TypedResults.Ok would do, but it writes the book anew for each response, in chunks because it cannot know the length, and makes a logger with
// services that are made for the request.

/// <summary>Answers with a book.</summary>
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
