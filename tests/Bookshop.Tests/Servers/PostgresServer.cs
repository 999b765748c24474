using Npgsql;

namespace Bookshop.Tests.Servers;

/// <summary>
/// A PostgreSQL server for the tests. Its data and its socket are in a directory that is deleted on disposal. The server listens on no port.
/// </summary>
internal sealed class PostgresServer : IDisposable
{
    public const string Program = Programs + "postgres";
    private const string Programs = "/usr/lib/postgresql/15/bin/";
    private const string User = "postgres";

    private readonly TestDirectory _directory = new();

    public PostgresServer()
    {
        if (Environment.UserName == "root")
        {
            ServerProgram.Run("chown", User, _directory.Path);
        }

        RunAsOwner("initdb", "-D", Data, "-U", User, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8");
        RunAsOwner(
            "pg_ctl", "-D", Data, "-l", _directory["log"], "-w", "-o",
            $"-c listen_addresses='' -c unix_socket_directories='{_directory.Path}' -c fsync=off -c max_connections=400 "
            + "-c shared_preload_libraries=pg_stat_statements",
            "start");
    }

    private string Data => _directory["data"];

    public string ConnectionString(string database) => $"Host={_directory.Path};Username={User};Database={database};Maximum Pool Size=20";

    public void Run(string database, string sql)
    {
        using var connection = Open(database);
        Run(connection, sql);
    }

    public static void Run(NpgsqlConnection connection, string sql)
    {
#pragma warning disable CA2100 // The text comes from the tests.
        using var command = new NpgsqlCommand(sql, connection);
#pragma warning restore CA2100
        command.ExecuteNonQuery();
    }

    public object Ask(string database, string sql)
    {
        using var connection = Open(database);
#pragma warning disable CA2100 // The text comes from the tests.
        using var command = new NpgsqlCommand(sql, connection);
#pragma warning restore CA2100
        return command.ExecuteScalar()!;
    }

    public NpgsqlConnection Open(string database)
    {
        var connection = new NpgsqlConnection(ConnectionString(database) + ";Pooling=false");
        connection.Open();
        return connection;
    }

    public void Dispose()
    {
        RunAsOwner("pg_ctl", "-D", Data, "-m", "immediate", "-w", "stop");
        _directory.Dispose();
    }

    // The server refuses to run as root.
    private static void RunAsOwner(string program, params string[] arguments)
    {
        if (Environment.UserName == "root")
        {
            ServerProgram.Run("runuser", ["-u", User, "--", Programs + program, .. arguments]);
        }
        else
        {
            ServerProgram.Run(Programs + program, arguments);
        }
    }
}
