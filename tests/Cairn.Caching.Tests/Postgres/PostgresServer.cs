using System.Diagnostics;

namespace Cairn.Caching.Tests.Postgres;

/// <summary>
/// A PostgreSQL server for one test. Its data and its socket are in a directory that is deleted on disposal. The server listens on no port.
/// </summary>
internal sealed class PostgresServer : IDisposable
{
    public const string Programs = "/usr/lib/postgresql/15/bin/";
    private const string User = "postgres";

    private readonly TestDirectory _directory = new();

    private PostgresServer()
    {
        if (Environment.UserName == "root")
        {
            Run("chown", User, _directory.Path);
        }
    }

    public string ConnectionString => $"Host={_directory.Path};Username={User};Database={User};Pooling=false";

    private string Data => _directory["data"];

    public static PostgresServer Start()
    {
        var server = new PostgresServer();
        RunAsOwner("initdb", "-D", server.Data, "-U", User, "--auth=trust", "--no-sync");
        RunAsOwner(
            "pg_ctl", "-D", server.Data, "-l", server._directory["log"], "-w", "-o",
            $"-c listen_addresses='' -c unix_socket_directories='{server._directory.Path}' -c fsync=off", "start");
        return server;
    }

    /// <summary>Restarts the server, which ends all connections.</summary>
    public void Restart() => RunAsOwner("pg_ctl", "-D", Data, "-l", _directory["log"], "-w", "-m", "immediate", "restart");

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
            Run("runuser", ["-u", User, "--", Programs + program, .. arguments]);
        }
        else
        {
            Run(Programs + program, arguments);
        }
    }

    // Discards the output: a server that pg_ctl leaves running would keep a pipe open.
    private static void Run(string program, params string[] arguments)
    {
        var start = new ProcessStartInfo("/bin/sh") { UseShellExecute = false, WorkingDirectory = "/" };
        start.ArgumentList.Add("-c");
        start.ArgumentList.Add("exec \"$@\" >/dev/null 2>&1");
        start.ArgumentList.Add("sh");
        start.ArgumentList.Add(program);
        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        using Process process = Process.Start(start)!;
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, $"{program} {string.Join(' ', arguments)} ended with {process.ExitCode}.");
    }
}
