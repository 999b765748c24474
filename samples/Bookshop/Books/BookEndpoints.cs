using System.ComponentModel.DataAnnotations;
using Bookshop.Catalogue;
using Bookshop.Invalidation;
using Bookshop.Reading;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.EntityFrameworkCore;
using Npgsql;

namespace Bookshop.Books;

// A change is committed, then removed from the cache, and then answered. A client that has the answer and asks again never receives the old book.
// The removal is not cancelled when the client disconnects, because the change is not cancelled either.

/// <summary>The endpoints below /api/books.</summary>
internal static class BookEndpoints
{
    private const int MaxPageSize = 100;

    public static void MapBooks(this IEndpointRouteBuilder routes, BookshopOptions options, IBookReader reader)
    {
        var books = routes.MapGroup("/api/books").WithTags("Books");

        // The lambda captures the reader. As a parameter, the reader would be looked up in the services of the request, which are created for that
        // request alone. A request that finds its book in memory needs none of them.
        books.MapGet("/{id:int}", (int id, CancellationToken cancellation) => AnswerAsync(reader.FindAsync(id, cancellation)))
            .WithName("FindBook").WithSummary("A book by id").Produces<BookDetails>().Produces(StatusCodes.Status404NotFound)
            .CacheBooks(options);

        books.MapGet("/", FindByTitleAsync).WithName("FindBooks").WithSummary("Books whose title begins with a text");
        books.MapPost("/", CreateAsync).WithName("CreateBook").WithSummary("A new book");
        books.MapPut("/{id:int}", UpdateAsync).WithName("UpdateBook").WithSummary("Replaces a book");
        books.MapDelete("/{id:int}", DeleteAsync).WithName("DeleteBook").WithSummary("Deletes a book");
    }

    // A book in memory is available at once, so its request creates no state machine.
    private static ValueTask<IResult> AnswerAsync(ValueTask<BookDetails?> finding)
    {
#pragma warning disable VSTHRD103 // The task has ended.
        return finding.IsCompletedSuccessfully ? ValueTask.FromResult(AnswerOf(finding.Result)) : WaitAsync(finding);
#pragma warning restore VSTHRD103

        static async ValueTask<IResult> WaitAsync(ValueTask<BookDetails?> finding) => AnswerOf(await finding);
        static IResult AnswerOf(BookDetails? book) => book is null ? TypedResults.NotFound() : new FoundBook(book);
    }

    private static async Task<Ok<BookPage>> FindByTitleAsync(
        [Required, StringLength(200)] string title, CatalogueContext catalogue, CancellationToken cancellation,
        [Range(0, int.MaxValue)] int skip = 0, [Range(1, MaxPageSize)] int limit = 20)
    {
#pragma warning disable CA1304, CA1311, CA1862, RCS1155 // EF Core translates it to lower(), for which the database has an index.
        var books = await catalogue.Books.AsNoTracking()
            .Where(book => book.Title.ToLower().StartsWith(title.ToLower()))
            .OrderBy(book => book.Title.ToLower()).ThenBy(book => book.Id)
            .Skip(skip).Take(limit + 1)
            .Select(book => new BookSummary(book.Id, book.Title, book.Price, new BookAuthor(book.AuthorId, book.Author!.Name)))
            .ToListAsync(cancellation);
#pragma warning restore CA1304, CA1311, CA1862, RCS1155
        return TypedResults.Ok(new BookPage([.. books.Take(limit)], HasMore: books.Count > limit));
    }

    private static async Task<Results<Created<BookDetails>, ValidationProblem, ProblemHttpResult>> CreateAsync(
        BookInput input, CatalogueContext catalogue, ICatalogueInvalidation cache, CancellationToken cancellation)
    {
        var book = input.ToBook();
        catalogue.Books.Add(book);
        if (await SaveAsync(catalogue, cancellation) is { } refusal)
        {
            return refusal is ValidationProblem invalid ? invalid : (ProblemHttpResult)refusal;
        }

        // The cache may hold the fact that this book does not exist.
        await cache.BookChangedAsync(book.Id);
        await catalogue.Entry(book).Reference(added => added.Author).LoadAsync(cancellation);
        return TypedResults.Created($"/api/books/{book.Id}", BookDetails.Of(book));
    }

    private static async Task<Results<Ok<BookDetails>, NotFound, ValidationProblem, ProblemHttpResult>> UpdateAsync(
        int id, BookInput input, CatalogueContext catalogue, ICatalogueInvalidation cache, CancellationToken cancellation)
    {
        if (await catalogue.Books.FirstOrDefaultAsync(book => book.Id == id, cancellation) is not { } book)
        {
            return TypedResults.NotFound();
        }

        input.Apply(book);
        if (await SaveAsync(catalogue, cancellation) is { } refusal)
        {
            return refusal is ValidationProblem invalid ? invalid : (ProblemHttpResult)refusal;
        }

        await cache.BookChangedAsync(id);
        await catalogue.Entry(book).Reference(changed => changed.Author).LoadAsync(cancellation);
        return TypedResults.Ok(BookDetails.Of(book));
    }

    private static async Task<Results<NoContent, NotFound>> DeleteAsync(
        int id, CatalogueContext catalogue, ICatalogueInvalidation cache, CancellationToken cancellation)
    {
        if (await catalogue.Books.Where(book => book.Id == id).ExecuteDeleteAsync(cancellation) == 0)
        {
            return TypedResults.NotFound();
        }

        await cache.BookChangedAsync(id);
        return TypedResults.NoContent();
    }

    // Returns the response if the database refuses the change, or null if it accepts the change.
    private static async Task<IResult?> SaveAsync(CatalogueContext catalogue, CancellationToken cancellation)
    {
        try
        {
            await catalogue.SaveChangesAsync(cancellation);
            return null;
        }
        catch (DbUpdateConcurrencyException)
        {
            return TypedResults.Problem("The book was deleted meanwhile.", statusCode: StatusCodes.Status409Conflict);
        }
        catch (DbUpdateException failure) when (failure.InnerException is PostgresException { SqlState: PostgresErrorCodes.ForeignKeyViolation })
        {
            return TypedResults.ValidationProblem(new Dictionary<string, string[]>(StringComparer.Ordinal)
            {
                [nameof(BookInput.AuthorId)] = ["There is no author with this id."],
            });
        }
        catch (DbUpdateException failure) when (failure.InnerException is PostgresException { SqlState: PostgresErrorCodes.UniqueViolation })
        {
            return TypedResults.Problem("Another book has this ISBN.", statusCode: StatusCodes.Status409Conflict);
        }
    }
}
