using System.Diagnostics;
using Bookshop.Tests.Servers;

namespace Bookshop.Tests.Starting;

/// <summary>samples/Bookshop/run, started as a new user starts it.</summary>
public sealed class RunScriptTests
{
    [Fact]
    public async Task Help_names_every_read_path()
    {
        var (exitCode, output, _) = await RunAsync("--help");

        Assert.Equal(0, exitCode);
        Assert.All(Reading.ReadPaths.Names, name => Assert.Contains($" {name} ", output, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("--path", "sqlite")]
    [InlineData("--port", "0")]
    [InlineData("--port", "http")]
    [InlineData("--processes", "0")]
    [InlineData("--data")]
    [InlineData("--verbose")]
    public async Task Wrong_argument_is_named_and_nothing_is_started(params string[] arguments)
    {
        var (exitCode, _, errors) = await RunAsync(arguments);

        Assert.Equal(2, exitCode);
        Assert.Contains(arguments[^1], errors, StringComparison.Ordinal);
        Assert.Contains("--help", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Port_in_use_is_said_before_anything_is_started()
    {
        using var directory = new TestDirectory();
        using var other = new System.Net.Sockets.TcpListener(System.Net.IPAddress.Loopback, 0);
        other.Start();
        var port = ((System.Net.IPEndPoint)other.LocalEndpoint).Port;

        var (exitCode, _, errors) = await RunAsync("--port", $"{port}", "--data", directory["data"]);

        Assert.Equal(1, exitCode);
        Assert.Contains($"port {port} is in use", errors, StringComparison.Ordinal);
        Assert.False(Directory.Exists(directory["data"]));
    }

    [RequiresToolFact(PostgresServer.Program, "bash", "runuser")]
    public async Task Run_opens_the_shop_and_ends_all_that_it_started()
    {
        using var directory = new TestDirectory();
        var port = FreePorts.Take();
        using var run = Start("--port", $"{port}", "--data", directory["data"], "--no-build");
        using var client = new ShopClient(new Uri($"http://127.0.0.1:{port}"));

        string? line;
        do
        {
            line = await run.StandardError.ReadLineAsync();
        }
        while (line?.StartsWith("The Bookshop is open", StringComparison.Ordinal) is false);
        Assert.NotNull(line);
        var title = await client.TitleAsync(7);
        var isDatabaseRunning = File.Exists(directory["data/postgres/postmaster.pid"]);
        using var stop = Process.Start("kill", ["-TERM", $"{run.Id}"]);
        await run.WaitForExitAsync();

        Assert.NotNull(title);
        Assert.Equal(143, run.ExitCode);
        Assert.Equal((true, false), (isDatabaseRunning, File.Exists(directory["data/postgres/postmaster.pid"])));
        await Assert.ThrowsAsync<HttpRequestException>(() => client.TitleAsync(7));
    }

    private static async Task<(int ExitCode, string Output, string Errors)> RunAsync(params string[] arguments)
    {
        using var process = Start(arguments);
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = await process.StandardError.ReadToEndAsync();
        await process.WaitForExitAsync();
        return (process.ExitCode, await output, errors);
    }

    private static Process Start(params string[] arguments)
    {
        var start = new ProcessStartInfo("bash", [RepositoryFile.At("samples", "Bookshop", "run"), .. arguments])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = Path.GetTempPath(),
        };

        start.Environment["Bookshop__Books"] = "100";
        start.Environment["Bookshop__Authors"] = "10";
        return Process.Start(start)!;
    }
}
