using Cairn.Caching.Tests.Hybrid;
using Cairn.Caching.Tests.Levels;
using Npgsql;

namespace Cairn.Caching.Tests.Postgres;

/// <summary>A database that reports its changes keeps the caches of two nodes up to date.</summary>
public sealed class TopicTests
{
    private const string Schema = """
        CREATE TABLE book (id int PRIMARY KEY, title text NOT NULL);
        INSERT INTO book VALUES (1, 'Dune'), (2, 'Emma');
        CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_notify('changes', 'book:' || COALESCE(NEW.id, OLD.id));
            RETURN NULL;
        END $$;
        CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON book FOR EACH ROW EXECUTE FUNCTION tell();
        """;

    [RequiresToolFact(PostgresServer.Programs + "postgres")]
    public async Task Notification_of_a_database_raises_a_topic_that_removes_what_depends_on_it_from_all_nodes()
    {
        using PostgresServer server = PostgresServer.Start();
        await using var caches = new CachesUnderTest(CachesUnderTest.Store);
        CairnHybridCache a = caches.Add();
        CairnHybridCache b = caches.Add();
        await DoAsync(server, Schema);
        using var stopping = new CancellationTokenSource();
        var listener = new TopicListener(a, server.ConnectionString);
        Task listening = listener.RunAsync(stopping.Token);
        await listener.ListeningAsync();

        Assert.Equal(["Dune", "Emma"], new[] { await ReadAsync(a, server, 1), await ReadAsync(a, server, 2) });
        Assert.Equal(["Dune", "Emma"], new[] { await ReadAsync(b, server, 1), await ReadAsync(b, server, 2) });
        await DoAsync(server, "UPDATE book SET title = 'Dune Messiah' WHERE id = 1");
        await LevelUnderTest.UntilAsync(() => !b.TryGet("book:1", out string? _));

        Assert.Equal(["Dune Messiah", "Dune Messiah"], new[] { await ReadAsync(b, server, 1), await ReadAsync(a, server, 1) });
        Assert.True(b.TryGet("book:2", out string? _));
        Assert.Equal(3, a.GetStatistics().FactoryRuns + b.GetStatistics().FactoryRuns);

        await stopping.CancelAsync();
        await Task.WhenAny(listening);
        Assert.True(listening.IsCanceled);
    }

    [RequiresToolFact(PostgresServer.Programs + "postgres")]
    public async Task Keys_that_changed_while_the_connection_was_lost_are_removed_when_it_is_back()
    {
        using PostgresServer server = PostgresServer.Start();
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        CairnHybridCache cache = caches.Add();
        await DoAsync(server, Schema);
        using var stopping = new CancellationTokenSource();
        var listener = new TopicListener(cache, server.ConnectionString);
        Task listening = listener.RunAsync(stopping.Token);
        await listener.ListeningAsync();
        await ReadAsync(cache, server, 1);

        server.Restart();
        await LevelUnderTest.UntilAsync(() => listener.Connections == 2);

        Assert.False(cache.TryGet("book:1", out string? _));
        await stopping.CancelAsync();
        await Task.WhenAny(listening);
    }

    private static ValueTask<string> ReadAsync(CairnHybridCache cache, PostgresServer server, int id) => cache.GetOrCreateAsync(
        $"book:{id}",
        async token =>
        {
            await using var connection = new NpgsqlConnection(server.ConnectionString);
            await connection.OpenAsync(token);
            await using var command = new NpgsqlCommand("SELECT title FROM book WHERE id = $1", connection) { Parameters = { new() { Value = id } } };
            return (string)(await command.ExecuteScalarAsync(token))!;
        },
        new CairnEntryOptions { Topics = ["database", $"book:{id}"] });

    private static async Task DoAsync(PostgresServer server, string sql)
    {
        await using var connection = new NpgsqlConnection(server.ConnectionString);
        await connection.OpenAsync();
#pragma warning disable CA2100 // The text comes from the tests themselves.
        await using var command = new NpgsqlCommand(sql, connection);
#pragma warning restore CA2100
        await command.ExecuteNonQueryAsync();
    }
}
