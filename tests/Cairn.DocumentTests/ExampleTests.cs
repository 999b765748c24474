using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace Cairn.DocumentTests;

/// <summary>The examples of samples/, run as their README files tell, print what those say.</summary>
public sealed class ExampleTests
{
    [Fact]
    public async Task Console_programs_share_a_cache()
    {
        using var directory = new TestDirectory();
        var store = directory["prices.cairn"];

        var produced = await RunAsync("dune 9.50\n", "dotnet", Built("SharedCache/Producer", "Producer"), store);
        var first = await RunAsync("", "dotnet", Built("SharedCache/Consumer", "Consumer"), store, "dune", "emma");
        var second = await RunAsync("", "dotnet", Built("SharedCache/Consumer", "Consumer"), store, "dune", "emma");

        Assert.Equal(PrintedBy("SharedCache"), produced + first + second);
    }

    [Fact]
    public async Task Console_program_says_what_is_wrong_with_a_file_that_is_no_store()
    {
        using var directory = new TestDirectory();
        await File.WriteAllTextAsync(directory["prices.cairn"], "not a store");

        var run = await TryRunAsync("", null, "dotnet", Built("SharedCache/Consumer", "Consumer"), directory["prices.cairn"], "dune");

        Assert.Equal(1, run.ExitCode);
        Assert.Contains(directory["prices.cairn"], run.Errors, StringComparison.Ordinal);
    }

    [RequiresToolFact("memcached", "python3")]
    public async Task Client_of_memcached_is_moved_to_cairn_unchanged()
    {
        // The tool of the last build: the launcher of the clone would build one of its own.
        using var directory = new TestDirectory();
        var tool = directory["cairn"];
        await File.WriteAllTextAsync(tool, $"#!/bin/sh\nexec dotnet '{RepositoryFile.At("src/Cairn.Cli/bin/Release/net10.0/Cairn.Cli.dll")}' \"$@\"\n");
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(tool, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        }

        var output = await RunScriptAsync("ReplaceMemcached", ("CAIRN", tool), FreePort());

        Assert.Equal(PrintedBy("ReplaceMemcached"), output);
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Shops_share_a_redis_cluster()
    {
        var output = await RunScriptAsync("RedisCluster", ("SHOP", Built("RedisCluster", "RedisCluster")), FreePort());

        Assert.Equal(PrintedBy("RedisCluster"), output);
    }

    [Theory]
    [InlineData("process")]
    [InlineData("file")]
    public async Task Shop_without_a_cluster_is_the_same_program(string kind)
    {
        using var directory = new TestDirectory();
        string[] arguments = kind == "file" ? [kind, directory["shop.cairn"]] : [kind];

        var run = await TryRunAsync("rename 42 Dune\nfind 42\nfind 42\n", directory.Path, "dotnet", [Built("RedisCluster", "RedisCluster"), .. arguments]);

        Assert.Equal("renamed\nDune (from the database)\nDune (from the cache)\n", run.Output);
    }

    private static string Built(string project, string assembly) =>
        RepositoryFile.At("samples", project, "bin", "Release", "net10.0", assembly + ".dll");

    // What the README of an example says that it prints.
    private static string PrintedBy(string example)
    {
        var readme = File.ReadAllText(RepositoryFile.At("samples", example, "README.md"));
        var start = readme.IndexOf("```text\n", StringComparison.Ordinal) + "```text\n".Length;
        return readme[start..readme.IndexOf("```", start, StringComparison.Ordinal)];
    }

    private static async Task<string> RunScriptAsync(string example, (string Name, string Value) setting, int port)
    {
        var start = new ProcessStartInfo("bash", [RepositoryFile.At("samples", example, "run"), port.ToString()]);
        start.Environment[setting.Name] = setting.Value;
        var run = await FinishAsync(start, "");
        return run.ExitCode == 0 ? run.Output : throw new InvalidOperationException($"{run.ExitCode}: {run.Output}{run.Errors}");
    }

    private static async Task<string> RunAsync(string input, string program, params IEnumerable<string> arguments)
    {
        var run = await TryRunAsync(input, null, program, arguments);
        return run.ExitCode == 0 ? run.Output : throw new InvalidOperationException($"{run.ExitCode}: {run.Errors}");
    }

    private static Task<(int ExitCode, string Output, string Errors)> TryRunAsync(
        string input, string? directory, string program, params IEnumerable<string> arguments) =>
        FinishAsync(new ProcessStartInfo(program, arguments) { WorkingDirectory = directory ?? "" }, input);

    private static async Task<(int ExitCode, string Output, string Errors)> FinishAsync(ProcessStartInfo start, string input)
    {
        start.RedirectStandardInput = true;
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        using var process = Process.Start(start)!;
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        await process.StandardInput.WriteAsync(input);
        process.StandardInput.Close();
        await process.WaitForExitAsync();
        return (process.ExitCode, await output, await errors);
    }

    // The first of three in a row: below what the system hands out by itself, at a place that depends on the process.
    private static int FreePort()
    {
        for (var port = 22_000 + (Environment.ProcessId % 300 * 10); ; port += 10)
        {
            if (Enumerable.Range(port, 3).All(IsFree) && Enumerable.Range(port + 10_000, 3).All(IsFree))
            {
                return port;
            }
        }
    }

    private static bool IsFree(int port)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
