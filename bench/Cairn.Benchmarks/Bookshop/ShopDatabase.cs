using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Server;
using Npgsql;

namespace Cairn.Benchmarks.Bookshop;

/// <summary>A PostgreSQL server that belongs to this run. It runs on the core of the load and counts its queries.</summary>
internal sealed class ShopDatabase : IDisposable
{
    private const string ServerName = "PostgreSQL";
    private const string User = "postgres";

    private readonly string _programs;
    private readonly string _folder;

    private ShopDatabase(string programs, string folder)
    {
        _programs = programs;
        _folder = folder;
    }

    public string ConnectionString => $"Host={_folder};Username={User};Database={User};Maximum Pool Size=50";

    private string Data => Path.Combine(_folder, "data");

    /// <summary>Starts a server with its data in <paramref name="folder"/>, which is created here and deleted on disposal.</summary>
    /// <exception cref="PeerUnavailableException">PostgreSQL is not installed.</exception>
    public static ShopDatabase Start(string folder)
    {
        var programs = FindPrograms()
            ?? throw new PeerUnavailableException(ServerName, "it is not installed (Debian package postgresql), and all paths read from it.");
        folder += "-database";
        Directory.CreateDirectory(folder);
        var database = new ShopDatabase(programs, folder);
        if (Environment.IsPrivilegedProcess)
        {
            Run("chown", User, folder);
        }

        database.RunAsOwner("initdb", "-D", database.Data, "-U", User, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8");
        database.RunAsOwner(
            "pg_ctl", "-D", database.Data, "-l", Path.Combine(folder, "log"), "-w", "-o",
            $"-c listen_addresses='' -c unix_socket_directories='{folder}' -c max_connections=400 -c shared_preload_libraries=pg_stat_statements", "start");
        database.Ask("CREATE EXTENSION pg_stat_statements");
        return database;
    }

    /// <summary>Returns the number of queries for books since the server was started.</summary>
    public double CountQueries() => Convert.ToDouble(
        Ask("SELECT COALESCE(SUM(calls), 0) FROM pg_stat_statements WHERE query ILIKE 'SELECT%FROM book %'"), CultureInfo.InvariantCulture);

    /// <summary>Returns the server's process identifiers: the first process, and one for each connection.</summary>
    public IReadOnlyList<int> ProcessIds()
    {
        var first = int.Parse(File.ReadLines(Path.Combine(Data, "postmaster.pid")).First(), CultureInfo.InvariantCulture);
        var id = first.ToString(CultureInfo.InvariantCulture);
        var children = File.ReadAllText($"/proc/{id}/task/{id}/children").Split(' ', StringSplitOptions.RemoveEmptyEntries);
        return [first, .. children.Select(child => int.Parse(child, CultureInfo.InvariantCulture))];
    }

    public void Dispose()
    {
        NpgsqlConnection.ClearAllPools();
        RunAsOwner("pg_ctl", "-D", Data, "-m", "immediate", "-w", "stop");
        Directory.Delete(_folder, recursive: true);
    }

    private object? Ask(string sql)
    {
        using var connection = new NpgsqlConnection(ConnectionString);
        connection.Open();
#pragma warning disable CA2100 // The text comes from the benchmark itself.
        using var command = new NpgsqlCommand(sql, connection);
#pragma warning restore CA2100
        return command.ExecuteScalar();
    }

    // Debian does not put the server's programs on the PATH. There is one folder for each version.
    private static string? FindPrograms()
    {
        const string Versions = "/usr/lib/postgresql";
        var folders = Directory.Exists(Versions) ? Directory.GetDirectories(Versions).OrderDescending(StringComparer.Ordinal).Select(v => Path.Combine(v, "bin")) : [];
        return folders.Concat((Environment.GetEnvironmentVariable("PATH") ?? string.Empty).Split(Path.PathSeparator))
            .FirstOrDefault(folder => File.Exists(Path.Combine(folder, "initdb")));
    }

    // The server refuses to run as root.
    private void RunAsOwner(string program, params string[] arguments)
    {
        string[] command =
        [
            "taskset", "-c", LoadGenerator.Core.ToString(CultureInfo.InvariantCulture),
            .. Environment.IsPrivilegedProcess ? (string[])["runuser", "-u", User, "--"] : [], Path.Combine(_programs, program), .. arguments,
        ];
        Run(command[0], command[1..]);
    }

    // Discards the output: a server that pg_ctl leaves running would keep a pipe open.
    private static void Run(string program, params string[] arguments)
    {
        var start = new ProcessStartInfo("/bin/sh", ["-c", "exec \"$@\" >/dev/null 2>&1", "sh", program, .. arguments]) { UseShellExecute = false, WorkingDirectory = "/" };
        using var process = Process.Start(start)!;
        process.WaitForExit();
        if (process.ExitCode != 0)
        {
            throw new InvalidOperationException($"{program} {string.Join(' ', arguments)} ended with {process.ExitCode}.");
        }
    }
}
