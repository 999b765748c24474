using Bookshop.Catalogue;
using Bookshop.Invalidation;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.EntityFrameworkCore;
using Npgsql;

namespace Bookshop.Authors;

/// <summary>The endpoints below /api/authors.</summary>
internal static class AuthorEndpoints
{
    public static void MapAuthors(this IEndpointRouteBuilder routes)
    {
        var authors = routes.MapGroup("/api/authors").WithTags("Authors");
        authors.MapGet("/{id:int}", FindAsync).WithName("FindAuthor").WithSummary("An author by id");
        authors.MapPost("/", CreateAsync).WithName("CreateAuthor").WithSummary("A new author");
        authors.MapPut("/{id:int}", UpdateAsync).WithName("UpdateAuthor").WithSummary("Replaces an author, in all books too");
        authors.MapDelete("/{id:int}", DeleteAsync).WithName("DeleteAuthor").WithSummary("Deletes an author who has no books");
    }

    private static async Task<Results<Ok<AuthorDetails>, NotFound>> FindAsync(int id, CatalogueContext catalogue, CancellationToken cancellation) =>
        await catalogue.Authors.AsNoTracking().FirstOrDefaultAsync(author => author.Id == id, cancellation) is { } author
            ? TypedResults.Ok(AuthorDetails.Of(author))
            : TypedResults.NotFound();

    // A new author changes no cached book, because no book can have shown it.
    private static async Task<Created<AuthorDetails>> CreateAsync(AuthorInput input, CatalogueContext catalogue, CancellationToken cancellation)
    {
        var author = input.ToAuthor();
        catalogue.Authors.Add(author);
        await catalogue.SaveChangesAsync(cancellation);
        return TypedResults.Created($"/api/authors/{author.Id}", AuthorDetails.Of(author));
    }

    private static async Task<Results<Ok<AuthorDetails>, NotFound>> UpdateAsync(
        int id, AuthorInput input, CatalogueContext catalogue, ICatalogueInvalidation cache, CancellationToken cancellation)
    {
        if (await catalogue.Authors.FirstOrDefaultAsync(author => author.Id == id, cancellation) is not { } author)
        {
            return TypedResults.NotFound();
        }

        input.Apply(author);
        await catalogue.SaveChangesAsync(cancellation);
        await cache.AuthorChangedAsync(id);
        return TypedResults.Ok(AuthorDetails.Of(author));
    }

    private static async Task<Results<NoContent, NotFound, ProblemHttpResult>> DeleteAsync(
        int id, CatalogueContext catalogue, ICatalogueInvalidation cache, CancellationToken cancellation)
    {
        try
        {
            if (await catalogue.Authors.Where(author => author.Id == id).ExecuteDeleteAsync(cancellation) == 0)
            {
                return TypedResults.NotFound();
            }
        }
        catch (PostgresException refused) when (refused.SqlState == PostgresErrorCodes.ForeignKeyViolation)
        {
            return TypedResults.Problem("The author has books. Delete them first.", statusCode: StatusCodes.Status409Conflict);
        }

        await cache.AuthorChangedAsync(id);
        return TypedResults.NoContent();
    }
}
