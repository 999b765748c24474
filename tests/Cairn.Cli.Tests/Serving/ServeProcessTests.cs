using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Cairn.Cli.Tests.Serving;

/// <summary>A server process as an operator starts and stops it: processes, signals, files. Cairn.Server.Tests covers sessions and loops.</summary>
public sealed class ServeProcessTests : IDisposable
{
    private const int Hangup = 1;
    private const string NoPort = "127.0.0.1:0";

    private readonly StoreDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Server_that_is_asked_to_terminate_finishes_closes_and_exits_with_success()
    {
        using ToolProcess server = Serve();
        using var client = new TextClient(ServerLines.MemcachedPort(server));
        client.Ask("set a 0 0 1\r\n1\r\n", "STORED\r\n");

        server.Signal(ToolProcess.Terminate);

        Assert.Equal("", client.ReadToEnd());
        (int code, string log) = server.WaitForExit();
        Assert.Equal(ExitCode.Done, code);
        Assert.EndsWith("Stopped.\n", log, StringComparison.Ordinal);
    }

    [Fact]
    public void Server_locks_its_memory_and_raises_the_limit_of_core_files()
    {
        using ToolProcess server = ToolProcess.StartProgram(
            "bash", ["-c", "ulimit -S -c 0 && exec \"$@\"", "bash", .. ToolProcess.Command, "serve", "-k", "-r", "--ephemeral", "--capacity", "16MiB", "--memcached", NoPort, "--resp", "off", "--http", "off"]);
        ServerLines.MemcachedPort(server);

        string[] status = File.ReadAllLines($"/proc/{server.Id}/status");
        string[] cores = [.. File.ReadAllLines($"/proc/{server.Id}/limits").Single(line => line.StartsWith("Max core file size", StringComparison.Ordinal)).Split(' ', StringSplitOptions.RemoveEmptyEntries)];

        Assert.True(KilobytesOf("VmLck") >= KilobytesOf("VmRSS") || !Environment.IsPrivilegedProcess, string.Join('\n', status)); // Others may lock little.
        Assert.Equal(cores[5], cores[4]); // Soft and hard.

        long KilobytesOf(string name) => long.Parse(
            status.Single(line => line.StartsWith(name + ":", StringComparison.Ordinal)).Split([' ', '\t'], StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture);
    }

    [Theory]
    [InlineData(ToolProcess.Terminate)]
    [InlineData(ToolProcess.Kill)]
    public void Server_comes_back_warm_however_it_ended(int signal)
    {
        const int Keys = 1000;
        string[] pinning = [.. ServeArguments(), "--pin", "key:1,key:7"];
        using (ToolProcess server = ToolProcess.Start(pinning))
        {
            using var client = new TextClient(ServerLines.MemcachedPort(server));
            for (int key = 0; key < Keys; key++)
            {
                client.Ask($"set key:{key} 7 0 4\r\n{key:D4}\r\n", "STORED\r\n");
            }

            server.Signal(signal);
            server.WaitForExit();
        }

        using ToolProcess again = ToolProcess.Start(pinning);
        using var reader = new TextClient(ServerLines.MemcachedPort(again));
        for (int key = 0; key < Keys; key++)
        {
            reader.Ask($"get key:{key}\r\n", $"VALUE key:{key} 7 4\r\n{key:D4}\r\nEND\r\n");
        }
    }

    [Fact]
    public void Store_that_keeps_nothing_leaves_no_file_even_of_a_killed_server()
    {
        HashSet<string> before = FilesInMemory();
        using ToolProcess server = ToolProcess.Start("serve", "--ephemeral", "--capacity", "8MiB", "--memcached", NoPort, "--resp", "off");
        using var client = new TextClient(ServerLines.MemcachedPort(server));
        client.Ask("set a 0 0 1\r\n1\r\n", "STORED\r\n");
        server.Signal(ToolProcess.Kill);
        server.WaitForExit();

        Assert.DoesNotContain(FilesInMemory(), file => !before.Contains(file) && file.Contains($"cairn-{server.Id}-", StringComparison.Ordinal));
    }

    [Fact]
    public void Detached_server_outlives_the_command_that_started_it()
    {
        string pidFile = _directory["server.pid"];
        string log = _directory["server.log"];
        ToolRun run = ToolProcess.Run([], [.. ServeArguments(), "--detach", "--pid-file", pidFile, "--log-file", log]);

        Assert.Equal((ExitCode.Done, "", ""), (run.Code, run.Output, run.Error));
        using var server = Process.GetProcessById(int.Parse(File.ReadAllText(pidFile), CultureInfo.InvariantCulture));
        try
        {
            using var client = new TextClient(ServerLines.PortIn(File.ReadAllText(log)));
            client.Ask("set a 0 0 1\r\n1\r\n", "STORED\r\n");
        }
        finally
        {
            ToolProcess.Send(server.Id, ToolProcess.Terminate);
        }

        server.WaitForExit();
        Assert.EndsWith("Stopped.\n", File.ReadAllText(log), StringComparison.Ordinal);
        Assert.False(File.Exists(pidFile));
    }

    [Fact]
    public void Server_that_cannot_serve_says_so_before_it_would_be_detached()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        int port = ((IPEndPoint)taken.LocalEndpoint).Port;

        ToolRun run = ToolProcess.Run([], [.. ServeArguments($"127.0.0.1:{port}"), "-d"]);

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains(
            $"Another program listens on 127.0.0.1:{port} already, so this server cannot listen there for memcached. Stop the other program, or choose another port: --memcached 127.0.0.1:{Math.Min(port + 1, IPEndPoint.MaxPort)}.",
            run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Log_that_was_moved_away_is_created_again_at_a_hangup()
    {
        string log = _directory["server.log"];
        string moved = log + ".1";
        using ToolProcess server = ToolProcess.Start([.. ServeArguments(), "--log-file", log, "--pid-file", _directory["pid"]]);
        FileWait.UntilItExists(_directory["pid"]);
        File.Move(log, moved);

        server.Signal(Hangup);
        FileWait.UntilItExists(log);
        server.Signal(ToolProcess.Terminate);
        server.WaitForExit();

        Assert.Contains("Listening for memcached", File.ReadAllText(moved), StringComparison.Ordinal);
        Assert.EndsWith("Stopped.\n", File.ReadAllText(log), StringComparison.Ordinal);
    }

    [Fact]
    public void Service_manager_is_notified_when_clients_can_connect_and_when_the_server_stops()
    {
        string path = _directory["notify"];
        using var manager = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        manager.Bind(new UnixDomainSocketEndPoint(path));
        using ToolProcess server = ToolProcess.StartProgram("env", [$"NOTIFY_SOCKET={path}", .. ToolProcess.Command, .. ServeArguments()]);

        Assert.Equal("READY=1", Receive(manager));
        server.Signal(ToolProcess.Terminate);
        Assert.Equal("STOPPING=1", Receive(manager));
        Assert.Equal(ExitCode.Done, server.WaitForExit().Code);
    }

    [Fact]
    public void Client_may_stop_a_server_that_allows_it()
    {
        using ToolProcess server = ToolProcess.Start([.. ServeArguments(), "-A"]);
        using var client = new TextClient(ServerLines.MemcachedPort(server));

        client.Send("shutdown\r\n");

        Assert.Equal(ExitCode.Done, server.WaitForExit().Code);
    }

    [Fact]
    public void Two_servers_on_one_store_show_the_same_values()
    {
        using ToolProcess first = Serve();
        using var writer = new TextClient(ServerLines.MemcachedPort(first));
        using ToolProcess second = Serve();
        using var reader = new TextClient(ServerLines.MemcachedPort(second));

        for (int turn = 0; turn < 500; turn++)
        {
            writer.Ask($"set counter 0 0 3\r\n{turn:D3}\r\n", "STORED\r\n");
            reader.Ask("get counter\r\n", $"VALUE counter 0 3\r\n{turn:D3}\r\nEND\r\n");
            reader.Ask("incr counter 0\r\n", $"{turn}\r\n");
            reader.Ask("delete counter\r\n", "DELETED\r\n");
            writer.Ask("get counter\r\n", "END\r\n");
        }

        first.Signal(ToolProcess.Kill);
        first.WaitForExit();
        reader.Ask("set after 0 0 1\r\n1\r\n", "STORED\r\n");
    }

    [Fact]
    public void Value_set_through_one_protocol_is_read_through_the_other_on_one_socket()
    {
        string socket = _directory["both.sock"];
        using ToolProcess server = ToolProcess.Start([.. ServeArguments(), "--unix", socket]);
        ServerLines.MemcachedPort(server);
        using var memcached = new TextClient(socket);
        using var resp = new TextClient(socket);

        memcached.Ask("set a 0 0 2\r\nhi\r\n", "STORED\r\n");
        resp.Ask("*2\r\n$3\r\nGET\r\n$1\r\na\r\n", "$2\r\nhi\r\n");
        resp.Ask("*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$2\r\nho\r\n", "+OK\r\n");
        memcached.Ask("get b\r\n", "VALUE b 0 2\r\nho\r\nEND\r\n");
    }

    private static HashSet<string> FilesInMemory() =>
        Directory.Exists("/dev/shm") ? [.. Directory.EnumerateFiles("/dev/shm")] : [];

    private static string Receive(Socket manager)
    {
        byte[] state = new byte[100];
        return Encoding.UTF8.GetString(state, 0, manager.Receive(state));
    }

    private ToolProcess Serve() => ToolProcess.Start(ServeArguments());

    private string[] ServeArguments(string memcached = NoPort) =>
        ["serve", "--store", _directory.FilePath, "--capacity", "8MiB", "--memcached", memcached, "--resp", "off", "--http", "off"];
}
