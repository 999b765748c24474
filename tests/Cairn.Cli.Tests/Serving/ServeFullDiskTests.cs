namespace Cairn.Cli.Tests.Serving;

/// <summary>A server on a full disk, or on one that becomes read-only.</summary>
public sealed class ServeFullDiskTests
{
    private const int Keys = 8_000;
    private const int ValueBytes = 4_000;

    [RequiresMountFact]
    public void Server_whose_store_cannot_be_created_says_why_and_leaves_nothing()
    {
        using TestMount mount = TestMount.Tmpfs(2 << 20);

        ToolRun run = ToolProcess.Run([], Serve(mount, "8MiB"));

        Assert.Equal(ExitCode.Store, run.Code);
        Assert.Contains("is full", run.Error, StringComparison.Ordinal);
        Assert.Empty(Directory.EnumerateFileSystemEntries(mount.Path));
    }

    [RequiresMountFact]
    public void Server_whose_store_cannot_grow_takes_every_value_and_evicts()
    {
        using TestMount mount = TestMount.Tmpfs(24 << 20);
        using ToolProcess server = ToolProcess.Start([.. Serve(mount, "16MiB"), "--max-capacity", "64MiB"]);
        using var client = new TextClient(ServerLines.MemcachedPort(server));
        string value = new('v', ValueBytes);

        for (int key = 0; key < Keys; key++)
        {
            client.Ask($"set key:{key} 0 0 {ValueBytes}\r\n{value}\r\n", "STORED\r\n");
            client.Ask($"get key:{key}\r\n", $"VALUE key:{key} 0 {ValueBytes}\r\n{value}\r\nEND\r\n");
        }

        server.Signal(ToolProcess.Terminate);
        Assert.Equal(ExitCode.Done, server.WaitForExit().Code);
        Assert.True(StoreMaintenance.Verify(mount["store.cairn"]).IsSound);
    }

    [RequiresMountFact]
    public void Log_that_finds_no_room_is_no_reason_to_end()
    {
        using TestMount mount = TestMount.Tmpfs(8 << 20);
        using ToolProcess server = ToolProcess.Start([.. Serve(mount, "4MiB"), "--log-file", mount["server.log"], "--pid-file", mount["server.pid"]]);
        FileWait.UntilItExists(mount["server.pid"]);
        int port = ServerLines.PortIn(File.ReadAllText(mount["server.log"]));
        Fill(mount["rest"]);

        using (var client = new TextClient(port))
        {
            client.Ask("set a 0 0 1\r\n1\r\n", "STORED\r\n");
        }

        server.Signal(ToolProcess.Terminate);
        Assert.Equal((ExitCode.Done, ""), server.WaitForExit());
    }

    [RequiresMountFact]
    public void Socket_and_pid_file_that_cannot_be_removed_do_not_keep_the_server_from_closing_its_store()
    {
        const int StateOffset = 128;
        const byte Closed = 2;
        using var directory = new StoreDirectory();
        using TestMount mount = TestMount.Tmpfs(1 << 20);
        using ToolProcess server = ToolProcess.Start(
            "serve", "--store", directory.FilePath, "--capacity", "4MiB", "--memcached", "off", "--resp", "off", "--http", "off",
            "--unix", mount["socket"], "--pid-file", mount["pid"]);
        FileWait.UntilItExists(mount["pid"]);
        mount.MakeReadOnly();

        server.Signal(ToolProcess.Terminate);
        (int code, string output) = server.WaitForExit();

        Assert.Equal(ExitCode.Done, code);
        Assert.Equal(Closed, File.ReadAllBytes(directory.FilePath)[StateOffset]);
        Assert.Contains($"'{mount["pid"]}' with the number of this process cannot be removed", output, StringComparison.Ordinal);
    }

    private static string[] Serve(TestMount mount, string capacity) =>
        ["serve", "--store", mount["store.cairn"], "--capacity", capacity, "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "off"];

    private static void Fill(string path)
    {
        using var file = new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0);
        byte[] block = new byte[4096];
        try
        {
            while (true)
            {
                file.Write(block);
            }
        }
        catch (IOException)
        {
            // The disk is full.
        }
    }
}
