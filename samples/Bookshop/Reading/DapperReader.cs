using Bookshop.Books;
using Dapper;
using Npgsql;

namespace Bookshop.Reading;

/// <summary>Reads a book with one handwritten query. The caches load missing books with it.</summary>
internal sealed class DapperReader(NpgsqlDataSource database) : IBookReader
{
    private const string Query = """
        SELECT b.id, b.title, b.isbn, b.published, b.pages, b.price, b.language, b.description, b.author_id AS authorId, a.name AS authorName
        FROM book b JOIN author a ON a.id = b.author_id
        WHERE b.id = @id
        """;

    public async ValueTask<BookDetails?> FindAsync(int id, CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        var row = await connection.QuerySingleOrDefaultAsync<Row>(new CommandDefinition(Query, new { id }, cancellationToken: cancellation));
        return row is null
            ? null
            : new BookDetails(
                row.Id, row.Title, row.Isbn, row.Published, row.Pages, row.Price, row.Language, row.Description,
                new BookAuthor(row.AuthorId, row.AuthorName));
    }

    // The columns of the query, with the same order and types.
    private sealed record Row(
        int Id, string Title, string Isbn, DateOnly Published, int Pages, decimal Price, string Language, string Description, int AuthorId,
        string AuthorName);
}
