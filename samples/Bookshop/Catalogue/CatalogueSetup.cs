using System.Net.Sockets;
using Npgsql;
using NpgsqlTypes;

namespace Bookshop.Catalogue;

// One transaction does everything, under a lock that other processes of the API take too. The second process finds the catalogue complete. A start
// that is interrupted leaves an empty database.

/// <summary>Fills an empty database before any other service starts.</summary>
internal sealed partial class CatalogueSetup(NpgsqlDataSource database, BookshopOptions options, ILogger<CatalogueSetup> logger) : IHostedLifecycleService
{
    private const long SetupLock = 7_305_446_501;

    private readonly CatalogueGenerator _generator = new(options.Authors);

    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        try
        {
            await FillAsync(cancellationToken);
        }
        catch (PostgresException failure) when (failure.SqlState is PostgresErrorCodes.InvalidPassword or PostgresErrorCodes.InvalidAuthorizationSpecification)
        {
            throw new BookshopSetupException(
                $"the database refuses the user: {failure.Message} Look at user and password of ConnectionStrings__Bookshop.", failure);
        }
        catch (PostgresException failure) when (failure.SqlState is PostgresErrorCodes.InvalidCatalogName)
        {
            throw new BookshopSetupException($"the database is not there: {failure.Message} Create it, empty: createdb NAME.", failure);
        }
        catch (NpgsqlException failure) when (failure.InnerException is SocketException or IOException or TimeoutException)
        {
            throw new BookshopSetupException(
                $"PostgreSQL does not answer: {failure.Message} Start with samples/Bookshop/run, which brings its own, or look at host and port of "
                + "ConnectionStrings__Bookshop.",
                failure);
        }
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    private async Task FillAsync(CancellationToken cancellation)
    {
        await using var connection = await database.OpenConnectionAsync(cancellation);
        await using var transaction = await connection.BeginTransactionAsync(cancellation);
        await RunAsync(connection, $"SELECT pg_advisory_xact_lock({SetupLock})", cancellation);
        if (await HasCatalogueAsync(connection, cancellation))
        {
            return;
        }

        LogFilling(logger, options.Authors, options.Books);
        await RunAsync(connection, Script("Schema.sql"), cancellation);
        await CopyAuthorsAsync(connection, cancellation);
        await CopyBooksAsync(connection, cancellation);
        LogIndexing(logger);
        await RunAsync(connection, Script("Indexes.sql"), cancellation);
        await transaction.CommitAsync(cancellation);
        await RunAsync(connection, "ANALYZE author, book", cancellation);
        LogFilled(logger);
    }

    private static async Task<bool> HasCatalogueAsync(NpgsqlConnection connection, CancellationToken cancellation)
    {
        await using var command = new NpgsqlCommand("SELECT to_regclass('book') IS NOT NULL", connection);
        return (bool)(await command.ExecuteScalarAsync(cancellation))!;
    }

    private async Task CopyAuthorsAsync(NpgsqlConnection connection, CancellationToken cancellation)
    {
        await using var rows = await connection.BeginBinaryImportAsync(
            "COPY author (id, name, country, born, biography) FROM STDIN (FORMAT BINARY)", cancellation);
        for (var id = 1; id <= options.Authors; id++)
        {
            var author = CatalogueGenerator.Author(id);
            await rows.StartRowAsync(cancellation);
            await rows.WriteAsync(author.Id, cancellation);
            await rows.WriteAsync(author.Name, cancellation);
            await rows.WriteAsync(author.Country, cancellation);
            await rows.WriteAsync(author.Born, cancellation);
            await rows.WriteAsync(author.Biography, cancellation);
        }

        await rows.CompleteAsync(cancellation);
    }

    private async Task CopyBooksAsync(NpgsqlConnection connection, CancellationToken cancellation)
    {
        var step = Math.Max(options.Books / 5, 1);
        await using var rows = await connection.BeginBinaryImportAsync(
            "COPY book (id, author_id, title, isbn, published, pages, price, language, description) FROM STDIN (FORMAT BINARY)", cancellation);
        for (var id = 1; id <= options.Books; id++)
        {
            var book = _generator.Book(id);
            await rows.StartRowAsync(cancellation);
            await rows.WriteAsync(book.Id, cancellation);
            await rows.WriteAsync(book.AuthorId, cancellation);
            await rows.WriteAsync(book.Title, cancellation);
            await rows.WriteAsync(book.Isbn, cancellation);
            await rows.WriteAsync(book.Published, NpgsqlDbType.Date, cancellation);
            await rows.WriteAsync(book.Pages, cancellation);
            await rows.WriteAsync(book.Price, NpgsqlDbType.Numeric, cancellation);
            await rows.WriteAsync(book.Language, cancellation);
            await rows.WriteAsync(book.Description, cancellation);
            if (id % step == 0)
            {
                LogProgress(logger, id, options.Books);
            }
        }

        await rows.CompleteAsync(cancellation);
    }

    private static async Task RunAsync(NpgsqlConnection connection, string sql, CancellationToken cancellation)
    {
#pragma warning disable CA2100 // The scripts are the program's own.
        await using var command = new NpgsqlCommand(sql, connection) { CommandTimeout = 0 };
#pragma warning restore CA2100
        await command.ExecuteNonQueryAsync(cancellation);
    }

    private static string Script(string name)
    {
        using var reader = new StreamReader(typeof(CatalogueSetup).Assembly.GetManifestResourceStream(name)!);
        return reader.ReadToEnd();
    }

    [LoggerMessage(10, LogLevel.Information, "The database is empty: generating {Authors} authors and {Books} books")]
    private static partial void LogFilling(ILogger logger, int authors, int books);

    [LoggerMessage(11, LogLevel.Information, "{Books} of {AllBooks} books")]
    private static partial void LogProgress(ILogger logger, int books, int allBooks);

    [LoggerMessage(12, LogLevel.Information, "Building indexes")]
    private static partial void LogIndexing(ILogger logger);

    [LoggerMessage(13, LogLevel.Information, "The catalogue is ready")]
    private static partial void LogFilled(ILogger logger);
}
